"""What the fake Claude answers 400 to, in the API's own words."""

import pytest

from satchel.local.fake_claude.request_rules import refusal_of

ASKED = {"role": "user", "content": "안녕 😀"}
CALL = {"role": "assistant", "content": [{"type": "tool_use", "id": "tu_1", "name": "look", "input": {}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "tu_1", "content": "seen"}]}


def body(*messages, **fields):
    return {"model": "claude-sonnet-5", "max_tokens": 100, "messages": list(messages or [ASKED]), **fields}


def blank(text):
    return {"role": "user", "content": [{"type": "text", "text": text}]}


@pytest.mark.parametrize("given", [body(), body(ASKED, CALL, RESULT), body(system="Be kind.")])
def test_a_good_request_is_taken(given):
    assert refusal_of(given) is None


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (body(ASKED, CALL), "`tool_use` ids were found without `tool_result` blocks immediately after: tu_1"),
        (body(ASKED, CALL, ASKED), "`tool_use` ids were found without `tool_result` blocks immediately after: tu_1"),
        (body(ASKED, RESULT), "unexpected `tool_use_id` found in `tool_result` blocks: tu_1"),
        (body(blank("")), "text content blocks must be non-empty"),
        (body(blank(" \n")), "text content blocks must contain non-whitespace text"),
        (body(system=" "), "text content blocks must contain non-whitespace text"),
        (body(favourite="blue"), "favourite: Extra inputs are not permitted"),
        (body(temperature=0), "temperature: not supported by this model"),
        (body(max_tokens=0), "max_tokens: Input should be greater than or equal to 1"),
        (body(max_tokens=200_000), "max_tokens: 200000 > 128000"),
        (body({"role": "user", "content": "word " * 250_000}), "prompt is too long: "),
        (body({"role": "robot", "content": "hi"}), "messages.0.role: Input should be 'user' or 'assistant'"),
        (body(CALL), 'first message must use the "user" role'),
        ({"model": "claude-sonnet-5", "max_tokens": 1}, "messages: Field required"),
        ([], "request body must be a JSON object"),
    ],
)
def test_what_the_service_refuses_is_refused(given, told):
    assert told in refusal_of(given)
