import base64
import json
from pathlib import Path

import pytest

from satchel.memory.search_store import SearchStore
from satchel.memory.store import ConversationStore
from tests.conftest import direct, https

EVENT = json.loads(Path("events/save_message.json").read_text(encoding="utf-8"))


def save(invoke, **arguments):
    return invoke("save_message", direct(arguments=arguments))


def test_the_golden_event_saves_its_message(invoke):
    assert invoke("save_message", EVENT) == {
        "structuredContent": {
            "message": {
                "message_id": "risk-1",
                "session_id": "risk",
                "role": "user",
                "content": "Let us size BTC/USDT positions at 2 % of the account.",
                "created_at": "2025-01-15T10:30:00Z",
                "metadata": {"speaker": "Mina"},
            },
            "duplicate": False,
        }
    }


def test_role_and_content_alone_are_enough(invoke):
    message = save(invoke, role="user", content="hi")["structuredContent"]["message"]
    assert message["session_id"] == "default"
    assert len(message["message_id"]) == 36


def test_https_answers_what_a_direct_invocation_answers_from_the_same_function(invoke):
    body = {"role": "user", "content": "Grüße 😀", "message_id": "m", "timestamp": 1767225600}
    answer = invoke("save_message", https(body))
    assert (answer["statusCode"], answer["isBase64Encoded"]) == (200, False)
    assert json.loads(answer["body"]) == save(invoke, **body)["structuredContent"] | {"duplicate": False}


def test_a_base64_body_is_decoded_and_a_broken_one_is_refused(invoke):
    body = base64.b64encode(json.dumps({"role": "user", "content": "Grüße 😀"}).encode()).decode()
    answer = invoke("save_message", https(body, isBase64Encoded=True))
    assert json.loads(answer["body"])["message"]["content"] == "Grüße 😀"
    assert invoke("save_message", https("%%%", isBase64Encoded=True))["statusCode"] == 400


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"content": "x"}, "role"),
        ({"role": "robot", "content": "x"}, "role"),
        ({"role": "user"}, "content"),
        ({"role": "user", "content": ""}, "content"),
        ({"role": "user", "content": " \n "}, "content"),
        ({"role": "user", "content": 7}, "content"),
        ({"role": "user", "content": "x", "timestamp": "soon"}, "timestamp"),
        ({"role": "user", "content": "x", "timestamp": True}, "timestamp"),
        ({"role": "user", "content": "x", "message_id": ""}, "message_id"),
        ({"role": "user", "content": "x", "message_id": 5}, "message_id"),
        ({"role": "user", "content": "x", "session_id": "a\u0000b"}, "session_id"),
        ({"role": "user", "content": "x", "session_id": "s" * 201}, "session_id"),
        ({"role": "user", "content": "x", "metadata": []}, "metadata"),
        ({"role": "user", "content": "x", "metadata": {"a\u0000": 1, "a\ufffd": 2}}, "metadata"),
        ({"role": "user", "content": "x", "conversation": "c"}, "conversation"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_written(invoke, database, arguments, field):
    error = save(invoke, **arguments)["error"]
    assert (error["code"], error["field"], error["request_id"]) == ("invalid_input", field, "r-1")
    assert ConversationStore(database, "alice").recent_messages(1) == []


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "nonsense",
        '{"role":"user","role":"system","content":"x"}',
        '{"role":"user","content":NaN}',
        "[" * 100_000,
        '{"role":"user","content":"x","metadata":{"deep":' + "[" * 600 + "]" * 600 + "}}",
        '{"role":"user","content":"x","metadata":{"\\ud800":1,"\\ud800":2}}',
    ],
)
def test_a_body_that_is_not_one_plain_json_object_is_refused(invoke, database, body):
    answer = invoke("save_message", https(body))
    assert answer["statusCode"] == 400
    assert json.loads(answer["body"].encode())["error"]["code"] == "invalid_input"
    assert ConversationStore(database, "alice").recent_messages(1) == []


def test_the_reason_is_told_in_our_words(invoke):
    error = save(invoke, role="user", content="x", timestamp="soon")["error"]
    assert error["message"].startswith("timestamp: it must be an ISO-8601 time stamp")


def test_nul_and_lone_surrogates_become_the_replacement_character_everywhere(invoke, database):
    saved = save(
        invoke,
        role="assistant",
        content="page 1\u0000 of 3 \ud83d, spelled \\u0000",
        metadata={"tool": {"stdout": "ok\u0000done"}, "k\u0000ey": 1},
    )["structuredContent"]["message"]
    assert saved["content"] == "page 1\ufffd of 3 \ufffd, spelled \\u0000"
    assert saved["metadata"] == {"tool": {"stdout": "ok\ufffddone"}, "k\ufffdey": 1}
    stored = ConversationStore(database, "alice").recent_messages(1)[0]
    assert (stored.content, stored.metadata) == (saved["content"], saved["metadata"])


@pytest.mark.parametrize(
    "number", ["1e23", "1.7976931348623157e+308", "-1e16", "9007199254740993", "0.1", "-0.0", "1e-320"]
)
def test_a_message_sent_again_is_the_first_one_whatever_numbers_it_carries(invoke, number):
    body = '{"role":"user","content":"x","message_id":"m","metadata":{"at":[{"price":' + number + "}]}}"
    first = json.loads(invoke("save_message", https(body))["body"])
    again = json.loads(invoke("save_message", https(body))["body"])
    assert (first["duplicate"], again) == (False, {**first, "duplicate": True})
    assert float(first["message"]["metadata"]["at"][0]["price"]) == float(number)


def test_a_message_over_the_stated_limit_is_too_large(invoke):
    assert save(invoke, role="user", content="가" * 87_381)["structuredContent"]["duplicate"] is False
    error = save(invoke, role="user", content="가" * 87_382)["error"]
    assert (error["code"], error["field"]) == ("too_large", "content")


def test_with_little_time_left_a_message_is_saved_first_and_its_meaning_is_read_later(invoke, database):
    event = direct(arguments={"role": "user", "content": "the garden gate", "message_id": "m"})
    assert invoke("save_message", event, remaining_ms=11_000)["structuredContent"]["duplicate"] is False
    waiting = SearchStore(database, "alice").unindexed_messages(encoder="hashing", limit=5)
    assert [message.message_id for message in waiting] == ["m"]
    found = invoke("search_conversation", direct(arguments={"query": "garden", "min_score": 0}))["structuredContent"]
    assert [hit["message"]["message_id"] for hit in found["hits"]] == ["m"]


def test_another_message_under_a_taken_id_is_a_conflict(invoke):
    save(invoke, role="user", content="one", message_id="m")
    answer = invoke("save_message", https({"role": "user", "content": "two", "message_id": "m"}))
    assert answer["statusCode"] == 409
    assert json.loads(answer["body"])["error"]["code"] == "conflict"


def test_without_a_verified_user_nobody_is_served(invoke):
    assert invoke("save_message", https({"role": "user", "content": "x"}, user_id=None))["statusCode"] == 401
    forged = https(
        {"role": "user", "content": "x"}, user_id=None, principal={"user_id": "alice", "scopes": ["context:write"]}
    )
    assert invoke("save_message", forged)["statusCode"] == 401


@pytest.mark.parametrize("user_id", ["a\u0000b", "a\nb", "\u202ebob", "u" * 257])
def test_a_name_that_the_mcp_endpoint_refuses_is_refused_over_https_too(invoke, user_id):
    answer = invoke("save_message", https({"role": "user", "content": "x"}, user_id=user_id))
    assert answer["statusCode"] == 401
    assert json.loads(answer["body"])["error"]["code"] == "unauthorized"


def test_a_token_without_the_scope_is_forbidden(invoke):
    answer = invoke("save_message", https({"role": "user", "content": "x"}, scope="context:read"))
    assert answer["statusCode"] == 403
    assert json.loads(answer["body"])["error"]["code"] == "forbidden"


def test_no_content_reaches_the_log(invoke, caplog):
    save(invoke, role="user", content="the code is 4417-BLUE", message_id="m")
    save(invoke, role="user", content="another 4417-BLUE", message_id="m")
    save(invoke, role="4417-BLUE", content="x")
    lines = [vars(record) for record in caplog.records]
    assert [line.get("error_code") for line in lines] == [None, "conflict", "invalid_input"]
    assert {"function", "request_id", "duration_ms"} <= lines[0].keys()
    assert "BLUE" not in repr(lines)
