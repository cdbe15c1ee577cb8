"""Every credential below is made up here; the generator's seed makes them the same in every run."""

import base64
import json
import random
import string
from urllib.parse import quote

import pytest

from satchel.filtering.sanitiser.sanitiser import Sanitiser

_CHANCE = random.Random(20)
_LETTERS = string.ascii_letters + string.digits


def _random(length: int, alphabet: str = _LETTERS) -> str:
    """Letters and digits, both present."""
    while True:
        text = "".join(_CHANCE.choice(alphabet) for _ in range(length))
        if any(map(str.isdigit, text)) and any(map(str.isalpha, text)):
            return text


def _hex(length: int) -> str:
    return _random(length, "0123456789abcdef")


@pytest.fixture(scope="module")
def sanitiser() -> Sanitiser:
    return Sanitiser()


GENERIC = [
    'globexia_key = "{s}"',
    "GLOBEXIA_KEY={s}",
    "globexiaApiKey: {s}",
    "globexia-api-key: '{s}'",
    'GlobexiaAccessKey := "{s}"',
    "export GLOBEXIA_TOKEN={s}",
    "set GLOBEXIA_TOKEN={s}",
    '$env:GLOBEXIA_TOKEN = "{s}"',
    "ENV GLOBEXIA_TOKEN {s}",
    "globexia.auth.token={s}",
    "globexia:\n  auth:\n    token: {s}\n",
    '  "globexiaToken" : "{s}",',
    "['globexia_token'] = '{s}'",
    '"globexia_token" => "{s}",',
    ":globexia_token => '{s}'",
    "define('GLOBEXIA_TOKEN', '{s}');",
    'System.setProperty("globexia.token", "{s}")',
    'client.setApiKey("{s}")',
    'new Client().withToken("{s}")',
    "globexia --token {s} list",
    "globexia --api-key={s} list",
    "<globexiaToken>{s}</globexiaToken>",
    '<add key="GlobexiaToken" value="{s}" />',
    '<property name="globexia.token" value="{s}"/>',
    '<entry key="globexia.token">{s}</entry>',
    "<key>GlobexiaToken</key>\n<string>{s}</string>",
    "- name: GLOBEXIA_TOKEN\n  value: {s}\n",
    '{{"name": "GLOBEXIA_TOKEN", "value": "{s}"}}',
    "https://api.globexia.example/v1?access_token={s}&page=2",
    "X-Globexia-Api-Key: {s}",
    "Authorization: Bearer {s}",
    "Authorization: token {s}",
    "curl -H 'Authorization: Bearer {s}' https://globexia.example",
    "the globexia api key is {s} for now",
    "new token: `{s}`",
    '\\"globexia_token\\": \\"{s}\\"',
    'msg="login" token={s} user=7',
    "Server=db;AccessKey={s};Region=eu",
]


@pytest.mark.parametrize("form", GENERIC)
def test_a_value_under_an_unknown_vendors_name_is_found_in_every_spelling(sanitiser: Sanitiser, form: str) -> None:
    for secret in (_random(32), _random(24), _hex(40)):
        text = form.format(s=secret)
        assert secret not in sanitiser.sanitise_text(text).text, text


PASSWORDS = [
    "password={p}",
    "db.password = {p}",
    "DB_PASS={p}\nDB_HOST=x\n",
    'password: "{p}"',
    "  password: {p}  # rotate\n",
    "<password>{p}</password>",
    "<add name='x' connectionString='Server=a;User Id=b;Password={p};' />",
    "jdbc:mysql://db:3306/app?user=root&password={p}&useSSL=false",
    "jdbc:oracle:thin:scott/x@//db PASSWORD={p}",
    "postgresql://app:{p}@db.internal:5432/orders",
    "amqp://guest2:{p}@mq:5672/%2f",
    "mongodb+srv://u:{p}@c0.example.net/?retryWrites=true",
    "redis://:{p}@cache:6379/0",
    "https://deploy:{p}@git.example.com/a.git",
    "curl -u admin:{p} https://x.example",
    "PGPASSWORD={p} psql -h db",
    "mysql -u root -p{p} app",
    "CREATE USER app IDENTIFIED BY '{p}';",
    "ALTER ROLE app WITH PASSWORD '{p}';",
    "machine api.example login bot password {p}",
    "requirepass {p}",
    "--password {p}",
    "비밀번호: {p}",
    "密码：{p}",
    "the password is {p}, please rotate it",
    '{{"user": "bob", "passwd": "{p}"}}',
    "'password' => '{p}',",
    "$cfg['Servers'][1]['password'] = '{p}';",
    "spring.datasource.password={p}",
    "ftp://u:{p}@files.example/x",
    "Uid=sa;Pwd={p};Encrypt=true",
]


@pytest.mark.parametrize("form", PASSWORDS)
@pytest.mark.parametrize("password", ["Tide-Lantern-40", "xK9!vwq2Lm", "blau7Kessel"])
def test_a_password_is_found_wherever_it_is_assigned(sanitiser: Sanitiser, form: str, password: str) -> None:
    text = form.format(p=password)
    assert password not in sanitiser.sanitise_text(text).text, text


TOKENS = [
    lambda: "ghp_" + _random(36),
    lambda: "github_pat_" + _random(22) + "_" + _random(59),
    lambda: "glpat-" + _random(20),
    lambda: f"xoxb-{_CHANCE.randrange(10**11, 10**12)}-{_CHANCE.randrange(10**11, 10**12)}-{_random(24)}",
    lambda: "AKIA" + _random(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    lambda: "sk_live_" + _random(24),
    lambda: "sk-proj-" + _random(60),
    lambda: "sk-ant-api03-" + _random(95),
    lambda: "SG." + _random(22) + "." + _random(43),
    lambda: "AIza" + _random(35),
    lambda: "npm_" + _random(36),
    lambda: "hf_" + _random(34),
    lambda: "dop_v1_" + _hex(64),
    lambda: "shpat_" + _hex(32),
    lambda: f"{_CHANCE.randrange(10**9, 10**10)}:AA" + _random(33),
    lambda: "SK" + _hex(32),
    lambda: "hvs." + _random(95),
    lambda: "globexia_live_" + _random(32),
    lambda: "globexia_pat_" + _random(40),
    lambda: "gsk_" + _random(52),
    lambda: "tskey-auth-" + _random(24),
    lambda: "https://hooks.slack.com/services/T" + _random(9) + "/B" + _random(10) + "/" + _random(24),
]


@pytest.mark.parametrize("make", TOKENS)
@pytest.mark.parametrize(
    "around",
    ["{t}", "use {t}, ok?", "({t})", "<b>{t}</b>", "a\\n{t}\\n", "x={t}&y=1", "[{t}]", "「{t}」", '{{"a":"{t}"}}'],
)
def test_a_known_token_is_found_whatever_surrounds_it(sanitiser: Sanitiser, make, around: str) -> None:
    token = make()
    text = around.format(t=token)
    cleaned = sanitiser.sanitise_text(text).text
    assert token not in cleaned
    assert "[REDACTED]" in cleaned


def test_a_private_key_goes_whole_in_lines_in_escapes_and_cut_off(sanitiser: Sanitiser) -> None:
    body = "\n".join(_random(64) for _ in range(6))
    pem = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    for text in (
        pem,
        json.dumps({"key": pem}),
        json.dumps({"inner": json.dumps({"k": pem})}),
        pem[:300],
        pem.replace("\n", "\\n"),
    ):
        cleaned = sanitiser.sanitise_text(f"{text}").text
        assert body[:20] not in cleaned
        assert body[70:90] not in cleaned


def test_a_certificate_or_public_key_stays(sanitiser: Sanitiser) -> None:
    text = f"-----BEGIN CERTIFICATE-----\n{_random(64)}\n-----END CERTIFICATE-----\nssh-ed25519 AAAAC3NzaC1lZDI1NTE5{_random(44)} ci@host"
    assert sanitiser.sanitise_text(text).text == text


def test_a_credential_behind_base64_or_percent_signs_is_found(sanitiser: Sanitiser) -> None:
    token = "ghp_" + _random(36)
    inner = f"token={token}"
    encoded = base64.b64encode(inner.encode()).decode()
    assert sanitiser.sanitise_text(f"data: {encoded}").text == "data: [REDACTED]"
    url = "https://a.example/?next=" + quote(f"https://b.example/?access_token={token}&p=1", safe="")
    cleaned = sanitiser.sanitise_text(url).text
    assert token not in cleaned
    assert cleaned.startswith("https://a.example/?next=https%3A%2F%2Fb.example%2F%3Faccess_token%3D[REDACTED]")


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("mail anna.lee+x@example.co.uk now", "mail [REDACTED] now"),
        ("call +82 10-1234-5678 today", "call [REDACTED] today"),
        ("(415) 555-2671 x", "[REDACTED] x"),
        ("SSN 219-09-9998", "SSN [REDACTED]"),
        ("card 5555 5555 5555 4444", "card [REDACTED]"),
        ("from 203.0.113.77 port 22", "from [REDACTED] port 22"),
        ("peer 2001:db8:85a3::8a2e:370:7334 up", "peer [REDACTED] up"),
        ("IBAN DE89 3704 0044 0532 0130 00 ok", "IBAN [REDACTED] ok"),
        ("주민번호 900101-1234568", "주민번호 [REDACTED]"),
        ("주민등록번호는 9001011234568입니다", "주민등록번호는 [REDACTED]입니다"),
        ("외국인등록번호: 850505-5123456", "외국인등록번호: [REDACTED]"),
        ("resident registration number 210101-3234567", "resident registration number [REDACTED]"),
        ("김민아 (900101-1234568) 🙂", "김민아 ([REDACTED]) 🙂"),  # its check digit holds
        ("이름,주민번호\n김민아,210101-3234567\n", "이름,주민번호\n김민아,[REDACTED]\n"),
        ("연락처 01098765432", "연락처 [REDACTED]"),
        ("mina@example.com, 010-9876-5432", "[REDACTED], [REDACTED]"),
        ("계좌 110-234-567890", "계좌 [REDACTED]"),
        ("계좌번호: 국민 123456-04-123456", "계좌번호: 국민 [REDACTED]"),
        ("여권번호 M12345678", "여권번호 [REDACTED]"),
        ("passport no. M123A4567", "passport no. [REDACTED]"),
    ],
)
def test_personal_data_is_found(sanitiser: Sanitiser, text: str, cleaned: str) -> None:
    assert sanitiser.sanitise_text(text).text == cleaned


def test_a_korean_field_name_tells_about_its_value(sanitiser: Sanitiser) -> None:
    told = {
        "주민등록번호": "210101-3234567",
        "연락처": "01098765432",
        "계좌번호": "110-234-567890",
        "여권번호": "M12345678",
        "residentRegistrationNumber": 9001011234568,
    }
    assert sanitiser.sanitise(told).value == dict.fromkeys(told, "[REDACTED]")
    open_ones = {"주민등록번호": "901301-1234567", "계좌": "3", "여권": "있음", "order_id": "900101-1234568"}
    assert sanitiser.sanitise(open_ones).value == open_ones


def test_a_live_token_of_a_known_vendor_goes_even_where_it_runs_through_the_alphabet(sanitiser: Sanitiser) -> None:
    token = "sk_" + "live_51HabcDEFghiJKLmnoPQRstuVWX0123456789"
    assert sanitiser.sanitise_text(f"use {token} for it").text == "use [REDACTED] for it"
    for placeholder in ("sk_live_XXXXXXXXXXXXXXXXXXXXXXXX", "sk_live_...", "sk_live_your_key_here"):
        assert sanitiser.sanitise_text(placeholder).text == placeholder


def _untouched() -> list[str]:
    return [
        _hex(40),
        f"commit {_hex(40)}",
        f"sha256:{_hex(64)}",
        f'"integrity": "sha512-{base64.b64encode(bytes(range(64))).decode()}"',
        "c10ce98b-6ec2-48fc-a738-5da0c24883a3",
        "created 1755302400, updated 1755302400123",
        "version 1.2.3.4 of 10.0.12",
        "SKU 985-46-8925, part PO1234567, EAN 4123456789012",
        "order #4292738759594814",
        "2026-10-21 08:15:30.855 +0200",
        "password: ********",
        "password = os.environ['DB_PASSWORD']",
        "password: str | None = None",
        "api_key=YOUR_API_KEY_HERE",
        "token: ${TOKEN}",
        "token: {{ secrets.TOKEN }}",
        "token: <token>",
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        "postgres://user:${DB_PASSWORD}@db/app",
        "postgres://user:password@localhost/app",
        "max_tokens: 4096, token budget 8000",
        '{"next_page_token": "CAUQAA12Zm9vYmFyYmF6"}',
        '{"token_type": "bearer", "expires_in": 3600}',
        "The password field is missing a label",
        "Access token lifetime is 3600 seconds",
        "primary_key = user_id_2024_index_main",
        'cache_key: "user:42:profile:v3:2026-01-01"',
        "const token = await getToken(user)",
        "secretName: prod/filter/db",
        "passwordless login is enabled",
        "git@github.com:org/repo.git",
        "logo@2x.png and @types/node@20.11.5",
        "std::vector::iterator at 12:30:45",
        "lat 40.724303, lon -73.745029",
        "s3://bucket/key/part-00000-659fb6f2-3029-4192-a9cd-c9b265e1d4f0.parquet",
        "암호화 알고리즘과 토큰 예산 🔐",
        "주민번호 901301-1234567 형식 오류",
        "batch 210101-3234567, order 900101-1234568",
        "계좌 3개, 계좌 개설일 2026-11-30 12:30",
        "여권 사진 2장, passport.js 0.7.0",
        "build 010-2026, 10:010-123-4567x",
        "연락처 3건",
    ]


@pytest.mark.parametrize("text", _untouched())
def test_what_only_looks_like_it_stays(sanitiser: Sanitiser, text: str) -> None:
    result = sanitiser.sanitise_text(text)
    assert result.text == text
    assert result.findings == ()
