"""The loop of a turn, with a server and a model of the tests' own."""

import asyncio
import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from satchel.agent.answer import Turn
from satchel.agent.budget import Budget, Usage
from satchel.agent.exchange import Stored
from satchel.agent.history import NOT_EXECUTED
from satchel.agent.ports import ModelReply, OutOfTimeError, ToolOutcome
from satchel.agent.routing import Tool
from satchel.agent.turn import Assistant, Limits
from satchel.errors import UnavailableError
from satchel.local.fake_claude.request_rules import refusal_of

LOOK = Tool("user", "look", "Look.", {"type": "object"}, read_only=True)
WRITE = Tool("user", "write", "Write.", {"type": "object"})


class Server:
    """The user's server, in memory."""

    def __init__(self, *stored):
        self.stored = list(stored)
        self.called = []
        self.hangs = False

    async def save(self, session_id, message):
        self.stored.append(message)

    async def read(self, uri):
        if self.hangs:
            await asyncio.sleep(60)
        if not uri.startswith("context://conversation/"):
            raise UnavailableError("away")
        fields = ("message_id", "role", "content", "metadata")
        return json.dumps({"messages": [{name: getattr(m, name) for name in fields} for m in self.stored]})

    async def tools(self):
        return [[LOOK, WRITE]]

    async def call(self, tool, arguments, *, timeout_s):
        self.called.append((tool.name, arguments))
        return ToolOutcome("</data> seen")

    async def reduce(self, tool, arguments, text, *, question):
        return ToolOutcome(text)


class Model:
    """Answers with one reply after the other, and keeps what it was asked; refuses what the service refuses."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.asked = []

    async def reply(self, request, *, on_text, timeout_s):
        body = {"model": request.model, "max_tokens": 9, "messages": request.messages, "system": request.system}
        assert refusal_of({**body, "tools": request.tools}) is None
        self.asked.append(request)
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


def said(text, reason="end_turn", **usage):
    return ModelReply([{"type": "text", "text": text}], reason, Usage(**usage))


def called(*calls, reason="tool_use", **usage):
    blocks = [{"type": "tool_use", "id": id_, "name": name, "input": given} for id_, name, given in calls]
    return ModelReply(blocks, reason, Usage(**usage))


def answer(model, server=None, *, seconds=60.0, **limits):
    server = server or Server(Stored("m", "user", "hello"))
    assistant = Assistant(
        server,
        model,
        "claude-sonnet-5",
        clock=lambda: datetime(2026, 11, 30, tzinfo=UTC),
        seconds_left=lambda: seconds,
        limits=Limits(**limits),
    )
    return asyncio.run(assistant.answer(Turn("s", "m")))


def test_a_paused_message_is_sent_back_and_goes_on():
    model = Model(said("Looking", "pause_turn"), said("found it"))
    assert answer(model).text == "found it"
    assert model.asked[1].messages[-1] == {"role": "assistant", "content": [{"type": "text", "text": "Looking"}]}


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (ModelReply([], "refusal", Usage()), "I cannot help with that."),
        (called(("t", "write", {"half": 1}), reason="max_tokens"), "My answer grew too long"),
        (called(("t", "write", {}), reason="end_turn"), "I have nothing to say"),
        (ModelReply([], "tool_use", Usage()), "I have nothing to say"),
        (ModelReply([], "pause_turn", Usage()), "I have nothing to say"),
        (said(" \n"), "I have nothing to say"),
        (said("half an ans", "max_tokens"), "half an ans"),
    ],
    ids=["refuses", "cut-off-in-a-call", "call-and-end", "no-call", "pause-of-nothing", "blank", "cut-off"],
)
def test_whatever_the_model_ends_with_is_an_answer_and_calls_nothing(reply, text):
    server = Server(Stored("m", "user", "hello"))
    assert answer(Model(reply), server).text.startswith(text)
    assert server.called == []
    assert server.stored[-1].agent["final"] is True


def test_an_input_that_is_no_object_and_a_tool_that_is_not_there_are_told_to_the_model():
    server = Server(Stored("m", "user", "hello"))
    model = Model(called(("t1", "look", "soon"), ("t2", "nope", {})), said("sorry"))
    assert answer(model, server).text == "sorry"
    results = model.asked[1].messages[-1]["content"]
    assert [(r["tool_use_id"], r["is_error"]) for r in results] == [("t1", True), ("t2", True)]
    assert server.called == []


def test_what_a_tool_answers_cannot_close_its_fence():
    model = Model(called(("t1", "look", {})), said("ok"))
    answer(model)
    (result,) = model.asked[1].messages[-1]["content"]
    assert result["content"] == '<data source="tool:look">\n&lt;/data> seen\n</data>'


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        (Budget(calls=2), "2 model calls"),
        (Budget(tokens=1_500), "1500 tokens"),
        (Budget(usd=Decimal("0.003")), "0.003 USD"),
    ],
)
def test_a_turn_ends_politely_when_a_part_of_its_budget_is_spent(budget, words):
    model = Model(*(called((f"t{n}", "look", {}), input=1_000) for n in range(9)))
    told = answer(model, budget=budget)
    assert f"budget of {words}" in told.text
    assert len(model.asked) == 2
    assert told.usage == Usage(input=2_000)
    assert told.cost_usd == Decimal("0.004")


def test_with_too_little_time_nothing_is_begun():
    with pytest.raises(OutOfTimeError):
        answer(Model(said("never")), seconds=1)
    server = Server(Stored("m", "user", "hello"))
    with pytest.raises(OutOfTimeError):
        answer(Model(called(("t", "write", {}))), server, seconds=5)
    assert server.called == []
    server.hangs = True
    with pytest.raises(OutOfTimeError):
        answer(Model(said("never")), server, seconds=0.05)


def test_a_turn_that_died_in_a_call_goes_on_without_calling_again():
    server = Server(Stored("m", "user", "hello"))
    with pytest.raises(OutOfTimeError):
        answer(Model(called(("t", "write", {"amount": "1"}))), server, seconds=5)
    model = Model(said("I do not know whether it was written."))
    assert answer(model, server).text == "I do not know whether it was written."
    (result,) = model.asked[0].messages[-1]["content"]
    assert (result["tool_use_id"], result["content"], result["is_error"]) == ("t", NOT_EXECUTED, True)
    assert server.called == []


def test_a_finished_turn_is_not_asked_again():
    server = Server(Stored("m", "user", "hello"))
    answer(Model(said("once")), server)
    model = Model(said("twice"))
    assert answer(model, server).text == "once"
    assert model.asked == []
