"""Credentials in formats with a grammar of their own, and the decisions that keep other things."""

import base64
import json

import pytest

from satchel.filtering.sanitiser.sanitiser import Sanitiser

_SANITISER = Sanitiser()
_P = "Vellum-73-kite"
_K = "x7Qm2LrT9vBn4KpZ8sWd3Yh6"
_H = "9f3c7a1be04d58c2a6f1e7b39d0c4852"
_U = "7d9f1c3a-52b8-4e6f-9a01-3cde48b7f215"
_BASIC = base64.b64encode(b"bob:" + _P.encode()).decode()
_JWT = ".".join(
    base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in ({"alg": "HS256", "typ": "JWT"}, {"sub": "17", "n": "Kim"})
) + "." + _K  # fmt: skip


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Ldap password      ----   {}", _P),
        ('new NetworkCredential("svc", "{}")', _P),
        ("requests.get(u, auth=basic_auth('bob', '{}'))", _P),
        ('new DirectoryEntry("LDAP://x", "bob", "{}")', _P),
        ("the default password is '{}'", "marigoldpier"),
        ("password for user 'postgres' is '{}'", "marigoldpier"),
        ("buildConfigField 'String', 'API_KEY', '\"{}\"'", _H),
        ("&key={}", _H),
        ('<Password xml:space="preserve">{}</Password>', "marigoldpier"),
        ("<ApiKey><![CDATA[{}]]></ApiKey>", _K),
        ('<setting name="ApiSecret" serializeAs="String">\n<value>{}</value>', _K),
        ('<property name="password"><value>{}</value></property>', _P),
        ("//user:{}@host/x", _P),
        ("docker login -u u -p {} reg", "Vellum73kite"),
        ("enable secret 5 {}", "$1$mERr$hx5rVt7rPNoS4wqbXKX7m0"),
        ("root:{}:19000:0:99999", "$6$rounds=5000$abcdefghijkl$Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz9Xc8Vb7Nm"),
        ("uid=bob:{}", "{{SSHA}}Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz".replace("{{", "{").replace("}}", "}")),
        ("비밀번호는 {} 입니다", _P),
        ("mot de passe : {}", _P),
        ("api key  {}", _K),
        ("seed phrase: {}", "army van defense carry jealous true garbage claim echo media make crunch"),
        ("process.env.SECRET || '{}'", _K),
        ('let token: &str = "{}";', _K),
        ('api_key: str = "{}"', _K),
        ('wifi_password[] = "{}"', "marigoldpier"),
        ("JWT_SECRET={}", "mysupersecretjwt"),
        ("heroku_api_key={}", _U),
        ("https://{}@github.com/a/b.git", _K),
        ("db.example.net:5432:app:bob:{}", _P),
        ("https://x.blob.example/c?sv=2024&sig={}&se=2026", "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW%2BxY%3D"),
        ("AWS4-HMAC-SHA256 SignedHeaders=host, Signature={}", _H * 2),
        ("Proxy-Authorization: Basic {}", _BASIC),
        ('"Authorization": "Bearer {}"', _K),
        ("authorization: {}", _H),
        ("Authorization: Bearer {}", _U),
        ("session token {}", _JWT),
        ("Set-Cookie: sid={}; Path=/; HttpOnly", _K),
        ("token%3D{}%26x", _K),
        ("&quot;password&quot;:&quot;{}&quot;", _P),
        ("key1: x\npassword: >-\n  {}\n", _P),
        ("data:\n  password: {}\n", base64.b64encode(_P.encode()).decode()),
        ("datadog: {}", _H + "01234abc"),
        ("Private-Lines: 2\n{}\nMAC", (_K + "AAAA") * 2),
        ("config: {}", base64.b64encode(f"-----BEGIN PRIVATE KEY-----\n{_K * 4}".encode()).decode()),
    ],
)  # fmt: skip
def test_a_credential_in_a_known_format_goes(text: str, secret: str) -> None:
    assert secret not in _SANITISER.sanitise_text(text.format(secret) if "{}" in text else text).text


@pytest.mark.parametrize(
    "text",
    [
        "'password' => 'required|min:8'",
        "password: !Ref DBPassword",
        "PASSWORD=%DB_PASSWORD%",
        "DB_PASSWORD=DB_PASSWORD",
        "curl -u user:${PASS} https://x.example",
        "curl -u <user:password> https://x.example",
        "docker run -p 8080:80 image",
        "http://localhost:3000/@fs/home",
        "https://example.com/@user/post",
        "postgres://app:****@db/orders",
        "Basic training takes 12 weeks",
        "Bearer tokens are validated by the gateway",
        "Cookie: theme=dark; lang=ko",
        "Set-Cookie: a=1; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT",
        "secretKeyRef:\n  name: db-secret\n  key: password",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "api_key = settings.API_KEY",
        "password=input('Password: ')",
        "sort_key=created_at#2024",
        "idempotency_key: 7d9f1c3a-52b8-4e6f-9a01-3cde48b7f215",
        '{"cursor": "eyJ0IjoxfQ", "nextPageToken": "Q0FVUUFBMTJabTl2WW1GeQ"}',
        "eyJub3QganNvbg.eyJub3QganNvbg.x7Qm2LrT9vBn4KpZ8sWd3Yh6",
        '"US 99 south of Grants Pass","formed":"1926"',
        "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----",
        "https://api.example/v1?code=short&sig=abc",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "AKIAIOSFODNN7EXAMPLE",
        "/assets/key-9f3c7a1be04d58c2a6f1e7b39d0c4852.png",
    ],
)
def test_what_only_stands_in_such_a_format_stays(text: str) -> None:
    assert _SANITISER.sanitise_text(text).text == text


@pytest.mark.parametrize(
    ("field", "value", "goes"),
    [
        ("ssn", 219099998, True),
        ("phone", 4155552671, True),
        ("mobile_number", "010-1234-5678", True),
        ("card_number", 4111111111111111, True),
        ("card_number", 4111111111111112, False),
        ("otp", "493027", True),
        ("recovery_phrase", "army van defense carry jealous true garbage claim echo media make crunch", True),
        ("Authorization", "Token " + _K, True),
        ("password", "Password must have at least 8 characters", False),
        ("password", "correct horse battery staple", True),
        ("passwordHash", "pending", False),
        ("token_type", "bearer", False),
        ("client_secret", None, False),
        ("secret", True, False),
        ("api_key", "https://vault.example/v1/kv", False),
        ("total_tokens", 81234567, False),
        ("number", 4111111111111111, True),
        ("order_id", 4111111111111111, False),
    ],
)
def test_the_name_of_a_field_decides_about_its_value(field: str, value: object, *, goes: bool) -> None:
    cleaned = _SANITISER.sanitise({field: value}).value[field]
    assert (cleaned != value) is goes


def test_findings_are_counted_by_rule() -> None:
    result = _SANITISER.sanitise({"a": "x@example.org y@example.org", "password": _P})
    assert result.counts() == {"assigned-password": 1, "email": 2}
