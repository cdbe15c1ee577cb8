"""Calls and reads: what reaches the function, and how its answer is told."""

import json

import pytest

from satchel.api.json_text import MAX_ANSWER_BYTES
from satchel.api.listing import catalogue
from satchel.errors import DeadlineError, TooLargeError, UnavailableError
from tests.integration.mcp.test_edge import modern, modern_headers
from tests.support.lambda_front import Context

SAVE = {"name": "save_message", "arguments": {"role": "user", "content": "안녕 😀"}}


def call_both(bench, params, **options):
    """The same call in both eras: each (status, body)."""
    old = bench.call("tools/call", params, **options)
    answer = bench.post(modern("tools/call", params), headers=modern_headers("tools/call", params["name"]), **options)
    return [old, (answer["statusCode"], json.loads(answer["body"]))]


def read_both(bench, uri):
    old = bench.call("resources/read", {"uri": uri})
    answer = bench.post(modern("resources/read", {"uri": uri}), headers=modern_headers("resources/read", uri))
    return [old, (answer["statusCode"], json.loads(answer["body"]))]


def test_a_function_is_handed_the_principal_and_never_the_token(bench):
    bench.functions.answers["save_message"] = {"structuredContent": {"duplicate": False}}
    token = bench.token("김하나", scopes=["context:write", "context:read"])
    bench.call("tools/call", SAVE, token=token)
    ((function, request),) = bench.functions.requests
    assert function == "save_message"
    assert request == {
        "principal": {"user_id": "김하나", "scopes": ["context:read", "context:write"]},
        "tool": "save_message",
        "arguments": SAVE["arguments"],
        "request_id": "request-1",
    }
    assert token not in json.dumps(request)


def test_a_result_is_both_text_and_structure(bench):
    structured = {"message": {"content": "안녕 😀"}, "duplicate": False}
    bench.functions.answers["save_message"] = {"structuredContent": structured}
    for status, body in call_both(bench, SAVE):
        assert status == 200
        assert body["result"]["structuredContent"] == structured
        assert json.loads(body["result"]["content"][0]["text"]) == structured
        assert not body["result"].get("isError", False)


def test_an_error_of_a_function_is_a_result_for_the_model_with_the_object_for_programs(bench):
    error = {"code": "invalid_input", "field": "role", "message": "role: Field required", "request_id": "request-1"}
    bench.functions.answers["save_message"] = {"error": error}
    for status, body in call_both(bench, SAVE | {"arguments": {}}):
        assert status == 200
        assert body["result"]["isError"] is True
        assert body["result"]["structuredContent"] == {"error": error}
        assert body["result"]["content"][0]["text"] == "invalid_input: role: Field required"


def test_an_unknown_tool_is_the_callers_error_in_both_eras(bench):
    (old, new) = call_both(bench, {"name": "no_such_tool", "arguments": {}})
    assert (old[0], new[0]) == (200, 400)
    assert old[1]["error"]["code"] == new[1]["error"]["code"] == -32602
    assert bench.functions.requests == []


@pytest.mark.parametrize(
    "uri",
    [
        "context://nope",
        "file:///etc/passwd",
        "context://conversation/a/b",
        "context://conversation/a?before=1&before=2",
    ],
)
def test_an_unknown_resource_is_the_callers_error(bench, uri):
    for _, body in read_both(bench, uri):
        assert body["error"]["code"] == -32602
    assert bench.functions.requests == []


def test_a_resource_is_read_with_its_query(bench):
    uri = "context://conversation/s-1?limit=5"
    contents = [{"uri": uri, "mimeType": "application/json", "text": "{}"}]
    bench.functions.answers["conversation"] = {"contents": contents}
    for status, body in read_both(bench, uri):
        assert status == 200
        assert body["result"]["contents"] == contents
    assert [request["resource"] for _, request in bench.functions.requests] == [uri, uri]


def test_what_a_function_refuses_to_read_carries_our_error_object(bench):
    error = {"code": "not_found", "field": None, "message": "there is no such session", "request_id": "request-1"}
    bench.functions.answers["conversation"] = {"error": error}
    for _, body in read_both(bench, "context://conversation/s-1"):
        assert body["error"]["code"] == -32602
        assert body["error"]["data"] == error


@pytest.mark.parametrize(
    "method", ["prompts/get", "tools/list", "prompts/list", "resources/list", "resources/templates/list"]
)
def test_an_unknown_prompt_and_an_unknown_cursor_are_the_callers_error(bench, method):
    params = {"name": "nope"} if method == "prompts/get" else {"cursor": "nope"}
    assert bench.call(method, params)[1]["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (UnavailableError("save_message cannot be called now"), "unavailable"),
        (DeadlineError("save_message did not answer in time"), "timeout"),
        (TooLargeError("the answer is too large"), "too_large"),
    ],
)
def test_a_function_that_cannot_answer_is_told_by_its_code(bench, failure, code):
    bench.functions.answers["save_message"] = failure
    for status, body in call_both(bench, SAVE):
        assert status == 200
        assert body["result"]["structuredContent"]["error"]["code"] == code


@pytest.mark.parametrize("answer", [{}, {"unexpected": 1}])
def test_an_answer_that_cannot_be_read_is_unavailable(bench, answer):
    bench.functions.answers["save_message"] = answer
    assert bench.call("tools/call", SAVE)[1]["result"]["structuredContent"]["error"]["code"] == "unavailable"


def test_a_function_is_waited_for_no_longer_than_there_is_time_to_answer(bench):
    bench.functions.answers["save_message"] = {"structuredContent": {"duplicate": False}}
    for remaining_ms in (29_000, 10_000, 3_000):
        bench.call("tools/call", SAVE, context=Context(remaining_ms=remaining_ms))
    limit_s = catalogue().tool("save_message").timeout_s
    assert bench.functions.timeouts_s == [
        pytest.approx(min(limit_s, 27), abs=0.5),
        pytest.approx(8, abs=0.5),
        pytest.approx(1, abs=0.5),
    ]


@pytest.mark.parametrize("letter", ["x", "한", '"'])
def test_a_result_over_the_limit_of_lambda_becomes_an_error(bench, letter):
    bench.functions.answers["save_message"] = {"structuredContent": {"text": letter * 3_000_000}}
    for _, body in call_both(bench, SAVE):
        error = body["result"]["structuredContent"]["error"]
        assert error["code"] == "too_large"
        assert "5.5 MB" in error["message"]


def test_a_resource_over_the_limit_names_its_pages(bench):
    uri = "context://conversation/s-1"
    text = "y" * MAX_ANSWER_BYTES
    bench.functions.answers["conversation"] = {"contents": [{"uri": uri, "mimeType": "text/plain", "text": text}]}
    for _, body in read_both(bench, uri):
        assert body["error"]["data"]["code"] == "too_large"
        assert "context://conversation/{session_id}{?before,limit}" in body["error"]["message"]


def test_sixty_four_bits_survive_both_ways(bench):
    bench.functions.answers["save_message"] = lambda request: {"structuredContent": request["arguments"]}
    arguments = {"number": 1915883588174806058, "text": "-1009007199254740993", "negative": -1009007199254740993}
    for _, body in call_both(bench, {"name": "save_message", "arguments": arguments}):
        assert body["result"]["structuredContent"] == arguments


def test_a_lone_surrogate_breaks_nothing(bench):
    bench.functions.answers["save_message"] = lambda request: {"structuredContent": request["arguments"]}
    params = b'{"name":"save_message","arguments":{"content":"\\ud800"}}'
    answer = bench.post(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + params + b"}")
    assert answer["statusCode"] == 200
    answer["body"].encode()
    assert json.loads(answer["body"])["result"]["structuredContent"] == {"content": "\ud800"}


def test_an_unknown_tool_set_is_refused_by_name(bench):
    answer = bench.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, query="toolsets=default,nope")
    assert answer["statusCode"] == 400
    assert json.loads(answer["body"])["error"]["field"] == "toolsets"


def test_warm_calls_share_one_loop_and_a_failing_call_harms_only_itself(bench):
    bench.functions.answers["save_message"] = {"structuredContent": {"duplicate": False}}
    loop = bench.adapter._loop
    assert bench.call("tools/list")[0] == 200
    assert "error" not in bench.call("tools/call", SAVE)[1]
    bench.functions.answers["save_message"] = RuntimeError("a fault with content in its text")
    status, body = bench.call("tools/call", SAVE)
    assert (status, body["error"]["code"]) == (200, -32603)
    assert "content in its text" not in json.dumps(body)
    bench.functions.answers["save_message"] = {"structuredContent": {"duplicate": True}}
    assert bench.call("tools/call", SAVE)[1]["result"]["structuredContent"] == {"duplicate": True}
    assert bench.adapter._loop is loop


def test_a_fault_is_logged_by_type_and_place_and_never_by_its_text(bench, caplog):
    bench.functions.answers["save_message"] = RuntimeError("secret words of a user")
    bench.call("tools/call", SAVE)
    (record,) = [record for record in caplog.records if record.msg == "request"]
    assert record.error_code == "internal"
    assert record.error_types == ["RuntimeError"]
    assert "secret words" not in caplog.text
    assert "secret words" not in str(vars(record))
