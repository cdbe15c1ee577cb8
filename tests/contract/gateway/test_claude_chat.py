"""Conversations through the real SDK: with the scripted fake, and with a Bedrock of our own."""

import asyncio
import time

import anthropic
import pytest

from satchel.agent.ports import ModelRequest, OutOfTimeError
from satchel.errors import UnavailableError
from satchel.gateway.claude import (
    ClaudeChat,
    ModelRefusedRequestError,
    anthropic_chat_client,
    bedrock_chat_client,
)
from satchel.local.fake_claude.script import (
    Reply,
    breaks_off,
    calls,
    fails,
    garbles,
    hangs_up,
    in_turn,
    refuses,
    says,
)
from satchel.local.fake_claude.server import FakeClaude
from tests.support.bedrock_server import bedrock_server

HELLO = ({"role": "user", "content": [{"type": "text", "text": "안녕 😀"}]},)
TOOL = {"name": "look", "description": "Look.", "input_schema": {"type": "object", "properties": {}}}


def request(messages=HELLO, **fields):
    given = {"model": "claude-sonnet-5", "max_tokens": 100, "system": [], "messages": messages, "tools": [TOOL]}
    return ModelRequest(**{**given, **fields})


def ask(*replies, requests=None, timeout_s=5.0):
    """What came of asking for each reply in turn: the last, its pieces of text, and what the fake was sent."""
    pieces = []

    async def run(url):
        client = anthropic.AsyncAnthropic(base_url=url, api_key="test")
        chat = ClaudeChat(lambda: client)
        try:
            for wanted in requests or [request()]:
                reply = await chat.reply(wanted, on_text=pieces.append, timeout_s=timeout_s)
        finally:
            await client.close()
        return reply

    with FakeClaude(in_turn(*replies)) as claude:
        return asyncio.run(run(claude.url)), pieces, claude.received


def test_text_is_told_in_pieces_and_the_message_is_whole():
    text = "아주 긴 대답 😀 " * 20
    reply, pieces, _received = ask(says(text))
    assert reply.content == [{"type": "text", "text": text}]
    assert (reply.stop_reason, reply.usage.output) == ("end_turn", 10)
    assert len(pieces) > 5
    assert "".join(pieces) == text


def test_text_is_told_as_it_comes_and_not_at_the_end():
    pieces = []

    async def run(url):
        client = anthropic.AsyncAnthropic(base_url=url, api_key="test")
        try:
            await ClaudeChat(lambda: client).reply(request(), on_text=pieces.append, timeout_s=10)
        finally:
            await client.close()

    # A message that never ends has been told up to there all the same.
    with FakeClaude(in_turn(breaks_off("half of it " * 20))) as claude, pytest.raises(UnavailableError):
        asyncio.run(run(claude.url))
    assert "".join(pieces).startswith("half of it half")


@pytest.mark.parametrize("reason", ["max_tokens", "pause_turn", "model_context_window_exceeded", "stop_sequence"])
def test_why_the_model_stopped_is_told(reason):
    assert ask(says("so far", stop_reason=reason))[0].stop_reason == reason


def test_a_refusal_and_a_call_are_told():
    assert ask(refuses())[0].stop_reason == "refusal"
    reply = ask(calls(("tu_1", "look", {"at": "달"}), thinking="hm"))[0]
    thought, call = reply.content
    assert (thought["thinking"], len(thought["signature"])) == ("hm", 64)
    assert (reply.stop_reason, call["name"], call["input"]) == ("tool_use", "look", {"at": "달"})


@pytest.mark.parametrize(
    "reply",
    [
        breaks_off("half of it " * 20),
        hangs_up(),
        Reply([{"type": "text", "text": "x" * 400}], hangs_up=True),
        garbles(),
        Reply(raw=b""),
        fails(500),
        fails(529, "overloaded_error"),
        fails(401, "authentication_error"),
        fails(404, "not_found_error"),
    ],
    ids=["error-in-stream", "hangs-up", "hangs-up-in-text", "no-json", "nothing", "500", "529", "key", "model"],
)
def test_a_service_that_fails_is_unavailable(reply):
    with pytest.raises(UnavailableError):
        ask(reply)


def test_a_request_that_the_service_finds_wrong_is_a_fault_of_ours():
    blank = ({"role": "user", "content": [{"type": "text", "text": " "}]},)
    with pytest.raises(ModelRefusedRequestError):
        ask(says("never"), requests=[request(blank)])


def test_a_rate_limit_is_waited_for_as_long_as_the_service_asks():
    began = time.monotonic()
    reply, _, received = ask(fails(429, "rate_limit_error", retry_after_s=1), says("now"))
    assert reply.content[0]["text"] == "now"
    assert len(received) == 2
    assert time.monotonic() - began >= 1


def test_a_model_slower_than_the_time_that_is_left_is_out_of_time():
    for slow in (says("late", delay_s=2), says("drip " * 100, pace_s=0.2)):
        with pytest.raises(OutOfTimeError):
            ask(slow, timeout_s=0.5)


def test_signed_thinking_holds_after_the_same_words_and_nowhere_else():
    thought = calls(("tu_1", "look", {}), thinking="hm")
    first = ask(thought)[0]
    result = {"type": "tool_result", "tool_use_id": "tu_1", "content": "moon"}
    answered = [{"role": "assistant", "content": list(first.content)}, {"role": "user", "content": [result]}]
    assert ask(says("ok"), requests=[request((*HELLO, *answered))])[0].content[0]["text"] == "ok"
    other = {"role": "user", "content": [{"type": "text", "text": "something else"}]}
    with pytest.raises(ModelRefusedRequestError):
        ask(says("never"), requests=[request((other, *answered))])


def test_the_services_errors_have_its_shape():
    with FakeClaude(in_turn(says("never"))) as claude:
        client = anthropic.Anthropic(base_url=claude.url, api_key="test", max_retries=0)
        with client, pytest.raises(anthropic.BadRequestError) as refused:
            client.messages.create(model="claude-sonnet-5", max_tokens=1, messages=list(HELLO), extra_body={"shout": 1})
    assert refused.value.body == {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "shout: Extra inputs are not permitted"},
        "request_id": refused.value.response.headers["request-id"],
    }
    assert refused.value.request_id == "req_fake_1"


def test_events_come_in_the_order_of_the_service():
    with FakeClaude(in_turn(says("hi"))) as claude:
        client = anthropic.Anthropic(base_url=claude.url, api_key="test")
        with (
            client,
            client.messages.with_streaming_response.create(
                model="claude-sonnet-5", max_tokens=9, messages=list(HELLO), stream=True
            ) as answer,
        ):
            names = [line.split(": ")[1] for line in answer.iter_lines() if line.startswith("event: ")]
    assert names == [
        "message_start", "content_block_start", "ping", "content_block_delta", "content_block_stop", "message_delta",
        "message_stop",
    ]  # fmt: skip


def test_a_key_that_is_given_is_used(monkeypatch):
    with FakeClaude(in_turn(says("hi"))) as claude:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", claude.url)

        async def run():
            client = anthropic_chat_client(lambda: "from-the-secret")
            async with client:
                return await ClaudeChat(lambda: client).reply(request(), on_text=print, timeout_s=5)

        asyncio.run(run())
        assert claude.received[0].headers["authorization"] == "Bearer from-the-secret"


def test_bedrock_is_asked_as_the_functions_own_role(monkeypatch):
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAROLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of-the-role")
    pieces = []
    with bedrock_server("Grüße aus Bedrock 😀") as (url, received):
        monkeypatch.setenv("ANTHROPIC_BEDROCK_BASE_URL", url)

        async def run():
            client = bedrock_chat_client()
            async with client:
                asked = request(model="eu.anthropic.claude-sonnet-5-v1:0")
                return await ClaudeChat(lambda: client).reply(asked, on_text=pieces.append, timeout_s=5)

        reply = asyncio.run(run())
    assert "".join(pieces) == "Grüße aus Bedrock 😀" == reply.content[0]["text"]
    ((path, headers, body),) = received
    assert path == "/model/eu.anthropic.claude-sonnet-5-v1:0/invoke-with-response-stream"
    assert "Credential=AKIAROLE/" in headers["authorization"]
    assert "/eu-central-1/bedrock/" in headers["authorization"]
    assert body["messages"] == list(HELLO)
    assert "model" not in body
