"""The real SDK against the scripted fake: every kind of answer the port must tell apart."""

import anthropic
import pytest

from satchel.llm.claude import ClaudeModel
from satchel.llm.structured import ModelFailedError, Question
from satchel.local.fake_claude.script import (
    Reply,
    fails,
    garbles,
    hangs,
    hangs_up,
    in_turn,
    is_cut_off,
    refuses,
    says,
    says_fenced,
    says_json,
)  # fmt: skip
from satchel.local.fake_claude.server import FakeClaude

SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "integer"}},
    "required": ["answer"],
    "additionalProperties": False,
}
QUESTION = Question(prompt="p.v1", system="Be brief. 한국어 😀", text="6 × 7?", schema=SCHEMA, max_tokens=50)


def ask(reply, *, model="claude-sonnet-5", timeout_s=5.0, question=QUESTION):
    with FakeClaude(in_turn(reply)) as claude:
        client = anthropic.Anthropic(base_url=claude.url, api_key="test")
        try:
            answer = ClaudeModel(model, lambda: client).ask(question, timeout_s=timeout_s)
        finally:
            client.close()
        return answer, claude.received


def test_an_answer_is_one_json_object():
    answer, received = ask(says_json({"answer": 42}))
    assert answer == {"answer": 42}
    body = received[0].body
    assert body["system"] == QUESTION.system
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}}
    assert "temperature" not in body


def test_a_fenced_answer_is_read():
    assert ask(says_fenced({"answer": 42}))[0] == {"answer": 42}


def test_a_model_that_takes_a_temperature_is_sent_zero():
    _, received = ask(says_json({"answer": 1}), model="claude-haiku-4-5-20251001")
    assert received[0].body["temperature"] == 0


@pytest.mark.parametrize(
    ("reply", "cause", "may_retry"),
    [
        (refuses(), "refused", True),
        (is_cut_off('{"answer": 4'), "cut_off", True),
        (says('{"answer": 4'), "invalid", True),
        (says("[42]"), "invalid", True),
        (says("The answer is 42."), "invalid", True),
        (says(""), "invalid", True),
        (Reply([]), "invalid", True),
        (Reply([{"type": "tool_use", "id": "t", "name": "n", "input": {}}], stop_reason="tool_use"), "invalid", True),
        (garbles(), "unavailable", True),
        (Reply(raw=b"{}"), "invalid", True),
        (Reply(raw=b"[]"), "invalid", True),
        (Reply(raw=b"null"), "invalid", True),
        (hangs_up(), "unavailable", True),
        (fails(529, "overloaded_error"), "unavailable", True),
        (fails(500), "unavailable", True),
        (fails(429, "rate_limit_error"), "unavailable", True),
        (fails(400, "invalid_request_error"), "rejected", False),
        (fails(401, "authentication_error"), "rejected", False),
    ],
)
def test_every_bad_answer_has_its_cause(reply, cause, may_retry):
    with pytest.raises(ModelFailedError) as caught:
        ask(reply)
    assert (caught.value.cause, caught.value.may_retry) == (cause, may_retry)


def test_a_slow_answer_is_given_up_and_asked_for_only_once():
    with FakeClaude(in_turn(hangs(2))) as claude:
        client = anthropic.Anthropic(base_url=claude.url, api_key="test")
        with pytest.raises(ModelFailedError) as caught:
            ClaudeModel("claude-sonnet-5", lambda: client).ask(QUESTION, timeout_s=0.2)
        client.close()
        assert caught.value.cause == "timeout"
        assert len(claude.received) == 1


def test_nobody_listening_is_unavailable():
    client = anthropic.Anthropic(base_url="http://127.0.0.1:9", api_key="test")
    with pytest.raises(ModelFailedError) as caught:
        ClaudeModel("claude-sonnet-5", lambda: client).ask(QUESTION, timeout_s=1)
    client.close()
    assert caught.value.cause == "unavailable"


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": 0},
        {"model": None},
        {"messages": []},
        {"messages": [{"role": "assistant", "content": "x"}]},
        {"max_tokens": 0},
        {"nonsense": 1},
        {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
    ],
)
def test_the_fake_refuses_what_the_api_refuses(change):
    body = {"model": "claude-sonnet-5", "max_tokens": 5, "messages": [{"role": "user", "content": "x"}], **change}
    body = {key: value for key, value in body.items() if value is not None}
    with FakeClaude(in_turn(says("hi"))) as claude:
        client = anthropic.Anthropic(base_url=claude.url, api_key="test", max_retries=0)
        with pytest.raises(anthropic.BadRequestError):
            client.post("/v1/messages", body=body, cast_to=object)
        client.close()
