import json
import random
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from satchel.errors import InvalidInputError
from satchel.filtering.sanitiser.configuration import load, parse
from satchel.filtering.sanitiser.finding import audit_rows
from satchel.filtering.sanitiser.log_redaction import redact_for_logs
from satchel.filtering.sanitiser.sanitiser import Sanitiser
from satchel.filtering.sanitiser.stream import TextStream

_TOKEN = "ghp_" + "q8Zr2Lw5Xn" * 3 + "7Tk3Vb"
_SANITISER = Sanitiser()
_BY_STRATEGY = {
    strategy: Sanitiser(parse({"redactionStrategy": strategy})) for strategy in ("full", "partial", "remove")
}


def test_a_secret_goes_from_json_in_json_from_keys_and_from_prose() -> None:
    value = {
        "out": json.dumps({"env": 'export APP_PASSWORD="Wren-Tide-2291"', "n": 1}),
        "map": {_TOKEN: "owner", "plain": 1},
        "log": [f"Authorization: Bearer {_TOKEN}"],
        "note": "mail kim.test@example.org, card 4111 1111 1111 1111",
        "한국어": "그대로 🙂",
    }
    before = json.dumps(value)
    result = _SANITISER.sanitise(value, tool_name="slack")
    assert result.value == {
        "out": json.dumps({"env": 'export APP_PASSWORD="[REDACTED]"', "n": 1}),
        "map": {"[REDACTED]": "owner", "plain": 1},
        "log": ["Authorization: Bearer [REDACTED]"],
        "note": "mail [REDACTED], card [REDACTED]",
        "한국어": "그대로 🙂",
    }
    assert json.dumps(value) == before
    assert {(finding.rule, finding.path) for finding in result.findings} == {
        ("assigned-password", "out.env"),
        ("github-token", "map.[REDACTED]"),
        ("github-token", "log[0]"),
        ("email", "note"),
        ("credit_card", "note"),
    }


def test_keys_that_collide_are_numbered_and_keep_their_order() -> None:
    value = {"a@example.org": 1, "x": 2, "b@example.org": 3, "[REDACTED]": 4}
    assert list(_SANITISER.sanitise(value).value.items()) == [
        ("[REDACTED]#2", 1),
        ("x", 2),
        ("[REDACTED]#3", 3),
        ("[REDACTED]", 4),
    ]


def test_nothing_found_gives_the_same_object() -> None:
    value = {"a": [1, {"b": "plain"}], "c": '{"spaced" :  1.50}'}
    assert _SANITISER.sanitise(value).value is value


def test_embedded_json_keeps_spacing_and_number_spelling_beside_a_change() -> None:
    inner = '{ "px": 1.50e-3,\t"api_key" : "k9Xw27bQzp4LmT8v", "dup": [ 1 ] }'
    assert _SANITISER.sanitise([inner]).value == ['{ "px": 1.50e-3,\t"api_key" : "[REDACTED]", "dup": [ 1 ] }']


def test_an_embedded_object_with_duplicate_keys_hides_nothing() -> None:
    inner = f'{{"a": "{_TOKEN}", "a": "x"}}'
    cleaned = _SANITISER.sanitise([inner]).value[0]
    assert _TOKEN not in cleaned
    assert json.loads(cleaned) == {"a": "x"}


def test_json_encoded_several_times_is_cleaned_inside() -> None:
    text = json.dumps({"password": "Wren-Tide-2291"})
    for _ in range(4):
        text = json.dumps(text)
    cleaned = _SANITISER.sanitise_text(text).text
    for _ in range(5):
        cleaned = json.loads(cleaned)
    assert cleaned == {"password": "[REDACTED]"}


def test_the_name_of_a_field_tells_about_numbers_pairs_columns_and_flags() -> None:
    value = {
        "pin": 4417,
        "client_secret": "c10ce98b-6ec2-48fc-a738-5da0c24883a3",
        "id": "c10ce98b-6ec2-48fc-a738-5da0c24883a3",
        "env": [{"name": "DB_PASSWORD", "value": "hunter2"}, {"name": "DB_HOST", "value": "db1"}],
        "columns": ["id", "password"],
        "rows": [[1, "hunter2"], [2, "letmein9"]],
        "argv": ["run", "--password", "hunter2", "--verbose"],
        "headers": {"Cookie": "theme=dark; session_id=8f3kq92mxz71", "Authorization": "Basic dXNlcjpodW50ZXIy"},
        "tokens_used": 812,
    }
    cleaned = _SANITISER.sanitise(value).value
    assert cleaned == value | {
        "pin": "[REDACTED]",
        "client_secret": "[REDACTED]",
        "env": [{"name": "DB_PASSWORD", "value": "[REDACTED]"}, {"name": "DB_HOST", "value": "db1"}],
        "rows": [[1, "[REDACTED]"], [2, "[REDACTED]"]],
        "argv": ["run", "--password", "[REDACTED]", "--verbose"],
        "headers": {"Cookie": "theme=dark; session_id=[REDACTED]", "Authorization": "Basic [REDACTED]"},
    }


def test_a_field_that_holds_a_version_or_an_identifier_is_no_address_and_no_number_of_a_person() -> None:
    value = {"version": "1.2.3.4", "sku": "219-09-9998", "created": 1755302400, "px": "0.00001700"}
    assert _SANITISER.sanitise(value).value is value


_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(),
    st.sampled_from([
        _TOKEN, f"token={_TOKEN}", "password: Wren-Tide-2291", "a@example.org", "card 4111111111111111", "x\\n" + _TOKEN,
        '{"password": "Wren-Tide-2291"}', "Authorization: Bearer " + _TOKEN, "https://u:Wren-Tide-2291@h/x", "+1 415 555 2671",
        "pwd=Wren-Tide-2291;token=" + _TOKEN + "@example.org", "Set-Cookie: sid=8f3kq92mxz71aa; Path=/",
    ]),
)  # fmt: skip
_KEYS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(["password", "api_key", "token", "pin", "Cookie", _TOKEN, "a@example.org", "b@example.org"]),
)
_JSON = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=4), max_leaves=12
)


@settings(max_examples=150, deadline=None)
@given(_JSON, st.sampled_from(["full", "partial", "remove"]))
def test_doing_it_twice_equals_doing_it_once(value, strategy: str) -> None:
    sanitiser = _BY_STRATEGY[strategy]
    once = sanitiser.sanitise(value).value
    twice = sanitiser.sanitise(once)
    assert json.dumps(twice.value) == json.dumps(once)
    assert twice.findings == ()


@settings(max_examples=100, deadline=None)
@given(_JSON)
def test_nothing_planted_gets_through_at_any_level_of_encoding(value) -> None:
    for wrapped in (value, json.dumps(value), {"inner": json.dumps({"deeper": json.dumps(value)})}):
        cleaned = json.dumps(_SANITISER.sanitise(wrapped).value)
        assert _TOKEN not in cleaned
        assert "Wren-Tide-2291" not in cleaned


@settings(max_examples=100, deadline=None)
@given(_JSON)
def test_json_text_stays_json_of_the_same_shape(value) -> None:
    cleaned = json.loads(_SANITISER.sanitise_text(json.dumps(value)).text)
    assert type(cleaned) is type(value) or isinstance(cleaned, str)
    if isinstance(value, (dict, list)):
        assert len(cleaned) == len(value)


@settings(max_examples=100, deadline=None)
@given(
    st.text(),
    st.lists(
        st.sampled_from([_TOKEN, "Wren-Tide-2291", "password=", "\n", " ", "\ud800", '"', "\\", "키 🙂"]), max_size=12
    ),
)
def test_any_text_is_accepted_and_what_surrounds_a_find_stays(text: str, parts: list[str]) -> None:
    whole = text + "".join(parts)
    spans = _SANITISER.spans(whole)
    assert all(0 <= span.start < span.end <= len(whole) for span in spans)
    cleaned = _SANITISER.sanitise_text(whole).text
    if not spans:
        assert cleaned == whole


def test_masking_shows_at_most_four_characters_and_none_of_a_password() -> None:
    sanitiser = Sanitiser(parse({"redactionStrategy": "partial"}))
    assert sanitiser.sanitise_text(f"use {_TOKEN} now").text == f"use ****{_TOKEN[-4:]} now"
    assert sanitiser.sanitise_text("password=Wren-Tide-2291").text == "password=[REDACTED]"


def test_removal_leaves_the_field_and_takes_the_characters() -> None:
    sanitiser = Sanitiser(parse({"redactionStrategy": "remove"}))
    assert sanitiser.sanitise({"password": "hunter2", "pin": 4417, "t": f"a {_TOKEN} b"}).value == {
        "password": "",
        "pin": None,
        "t": "a  b",
    }


def test_custom_patterns_are_for_their_tools_and_the_allow_list_wins() -> None:
    config = parse(
        {
            "redactPatterns": [{"name": "case-number", "pattern": r"CASE-\d{5}", "tool": "jira*"}, r"XX\d{3}"],
            "allowlist": ["ops@example.org", r"/10\.0\.\d+\.\d+/"],
        }
    )
    sanitiser = Sanitiser(config)
    text = "CASE-12345 XX123 ops@example.org 10.0.4.7 else@example.org"
    assert (
        sanitiser.sanitise_text(text, tool_name="jira_search").text
        == "[REDACTED] [REDACTED] ops@example.org 10.0.4.7 [REDACTED]"
    )
    assert (
        sanitiser.sanitise_text(text, tool_name="slack").text
        == "CASE-12345 [REDACTED] ops@example.org 10.0.4.7 [REDACTED]"
    )


def test_personal_data_can_be_left_but_credentials_cannot() -> None:
    sanitiser = Sanitiser(parse({"piiDetection": False}))
    assert sanitiser.sanitise_text(f"a@example.org {_TOKEN}").text == "a@example.org [REDACTED]"


@pytest.mark.parametrize(
    ("text", "field", "line"),
    [
        ('{\n"piiDetection": "yes"}', "piiDetection", 2),
        ('{"allowlist": [],\n\n"redactPatterns": ["ok", "(a"]}', "redactPatterns[1]", 3),
        ('{"redactPatterns": [{"pattern": "a",\n"tool": 1}]}', "redactPatterns[0].tool", 2),
        (r'{"redactPatterns": ["(a)\\1"]}', "redactPatterns[0]", 1),
        ('{"redactPatterns": [{}]}', "redactPatterns[0]", 1),
        ('{"redactPatterns": "a"}', "redactPatterns", 1),
        ('{"allowlist": [""]}', "allowlist[0]", 1),
        ('{"redactPatterns": [""]}', "redactPatterns[0]", 1),
        ('{"redactionStrategy": "half"}', "redactionStrategy", 1),
        ("{\n\n,}", None, 3),
        ("[]", None, 1),
        ("[" * 100_000, None, 1),
    ],
)
def test_a_configuration_with_an_error_is_refused_with_line_and_field(text: str, field: str | None, line: int) -> None:
    with pytest.raises(InvalidInputError, match=f"^line {line}: ") as caught:
        load(text)
    assert caught.value.field == field


def test_a_configuration_is_read() -> None:
    config = load('{"piiDetection": false, "auditSensitiveAccess": false, "maxDepth": 3}')
    assert (config.pii_detection, config.audit_sensitive_access, config.strategy) == (False, False, "full")


def test_audit_rows_have_the_contracts_fields_and_no_value() -> None:
    result = _SANITISER.sanitise({"a": {_TOKEN: _TOKEN}}, tool_name="db")
    rows = audit_rows(result.findings, tool_name="db", at=datetime(2026, 5, 1, tzinfo=UTC))
    assert rows[0] == {
        "timestamp": "2026-05-01T00:00:00Z",
        "toolName": "db",
        "patternMatched": "github-token",
        "fieldPath": "a.[REDACTED]",
        "actionTaken": "redacted",
    }
    assert _TOKEN not in json.dumps(rows)


def test_a_log_line_is_redacted() -> None:
    assert redact_for_logs(f"GET /?token={_TOKEN} from a@example.org") == "GET /?token=[REDACTED] from [REDACTED]"


@settings(max_examples=20, deadline=None)
@given(st.integers(min_value=0, max_value=10**6))
def test_a_text_in_pieces_comes_out_as_the_whole_does(seed: int) -> None:
    chance = random.Random(seed)
    parts = [
        _TOKEN,
        "password=Wren-Tide-2291",
        "call 415-555-2671",
        "plain words",
        "키 🙂",
        "a@example.org",
        "\n",
        ", ",
        " ",
    ]
    text = " ".join(chance.choice(parts) for _ in range(chance.randrange(20, 5000)))
    stream = TextStream(_SANITISER)
    out, at = [], 0
    while at < len(text):
        size = chance.choice([1, 7, 100, 5000, 40_000])
        out.append(stream.feed(text[at : at + size]))
        at += size
    assert "".join(out) + stream.finish() == _SANITISER.sanitise_text(text).text


def test_a_private_key_across_pieces_goes_whole() -> None:
    chance = random.Random(3)
    body = "\n".join("".join(chance.choice("ABCDEFabcdef0123456789+/") for _ in range(64)) for _ in range(400))
    text = "x " * 9000 + f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----" + " y" * 9000
    stream = TextStream(_SANITISER)
    out = "".join(stream.feed(text[at : at + 3000]) for at in range(0, len(text), 3000)) + stream.finish()
    assert out == "x " * 9000 + "[REDACTED]" + " y" * 9000


@pytest.mark.parametrize(
    "text",
    ["a" * 200_000, "=" * 200_000, "%41" * 60_000, '"' * 200_000, "\\" * 200_000, "-" * 200_000, "1" * 200_000, "1." * 100_000,
     ":" * 200_000, "@" * 200_000, "password=" * 20_000, "token " * 30_000, "://a:" * 40_000, "ghp_" * 50_000, "(" * 200_000,
     "-----BEGIN PRIVATE KEY-----" * 7_000, "a@" * 100_000, "1-" * 100_000, "key:" * 50_000, "[" * 200_000, "<key>" * 40_000,
     "eyJhbGciOiJI" * 16_000, "cookie: a=" * 20_000, "curl -u " * 25_000, "+1" * 100_000, "sk-abcdefgh1 " * 15_000,
     "password,user\n" * 14_000, "password, " * 20_000, ("password," * 430 + "\n") * 50, "a|token|b\n1|2|3\n" * 12_000, "key  pin  \n" * 16_000,
     "insert into t (password) values (" * 6_000, "insert into t (password) values ('a'),('b')," * 4_500, "net user a " * 18_000,
     "kind: Secret\ndata:\n  a: bbbb1\n" * 6_500, '"kty"{' * 33_000, "<RSAKeyValue><D>" * 12_000, '<a name="password" ' * 10_000,
     'variable "token" {' * 11_000, "u:p1@tcp(" * 22_000, "a:80:b:c:d" * 20_000, " -p -P -w -a" * 16_000, "community x1 " * 15_000,
     "xoxb-" * 40_000, "hooks/abcdefgh" * 14_000, "Authorization: Digest response=" * 6_000, "-----BEGIN PGP PRIVATE KEY BLOCK-----\n> " * 5_000],
    ids=lambda text: text[:12],
)  # fmt: skip
@pytest.mark.timeout(30)  # quadratic behaviour would take hours
def test_hostile_text_is_dealt_with_in_bounded_time(text: str) -> None:
    cleaned = _SANITISER.sanitise_text(text).text
    assert _SANITISER.sanitise_text(cleaned).text == cleaned


def test_deep_and_wide_values_are_walked() -> None:
    deep: object = {"password": "hunter2"}
    for _ in range(5_000):
        deep = [deep]
    cleaned = _SANITISER.sanitise(deep).value
    for _ in range(5_000):
        cleaned = cleaned[0]
    assert cleaned == {"password": "[REDACTED]"}
    wide = {f"k{index}": index for index in range(200_000)}
    assert _SANITISER.sanitise(wide).value is wide


def test_a_value_that_contains_itself_is_refused() -> None:
    value: list[object] = []
    value.append(value)
    with pytest.raises(InvalidInputError):
        _SANITISER.sanitise(value)
