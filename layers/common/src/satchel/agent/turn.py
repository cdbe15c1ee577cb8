"""One turn: what the user said, to what the assistant answers, with the tools it calls on the way."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, cast
from urllib.parse import quote

from satchel.agent import budget as money
from satchel.agent.budget import Budget, Spending, Usage
from satchel.agent.exchange import (
    MAX_BLOCKS_BYTES,
    Block,
    Stored,
    assistant_record,
    clean_blocks,
    cut,
    result_block,
    results_record,
    text_of,
)
from satchel.agent.fencing import fence
from satchel.agent.history import Message, conversation, trim
from satchel.agent.ports import ChatModel, Listener, ModelRequest, OutOfTimeError, Silence, ToolOutcome, UserServer
from satchel.agent.prompt import CACHE_MARK, RESOURCES, Context, context_block, system_blocks
from satchel.agent.routing import Tool, Toolbox, toolbox
from satchel.errors import NotFoundError, SatchelError

_HISTORY_MESSAGES = 200
# Less than this is no time to begin a request to the model, or a tool, in.
_LEAST_FOR_MODEL_S = 2.0
_LEAST_FOR_TOOLS_S = 8.0


@dataclass(frozen=True)
class Turn:
    """What is to be answered.

    Attributes:
        session_id: The conversation.
        message_id: The id of the user's message, which names the turn.
    """

    session_id: str
    message_id: str


@dataclass(frozen=True)
class Limits:
    """What a turn may take.

    Attributes:
        budget: Calls, tokens and money.
        max_tokens: The longest answer of one request.
        history_tokens: How much of the session is sent word for word.
    """

    budget: Budget = field(default_factory=Budget)
    max_tokens: int = 8_192
    history_tokens: int = 60_000


@dataclass(frozen=True)
class Answer:
    """How a turn ended.

    Attributes:
        message_ids: Of all messages of the turn, the user's first, the answer last.
        text: The answer.
        tool_calls: Each call's name, input and whether it failed.
        usage: Tokens, as the API counts them, of all requests of the turn.
        cost_usd: What they cost.
        context: What the context resources said; empty where the turn had been answered before.
    """

    session_id: str
    message_ids: list[str]
    text: str
    tool_calls: list[dict[str, Any]]
    usage: Usage
    cost_usd: Decimal
    context: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Assistant:
    """Answers turns of one user.

    Attributes:
        server: The user's server.
        model: Who answers.
        model_name: The model asked for.
        clock: Now, aware UTC.
        seconds_left: Seconds until the turn has to end or be handed on.
        limits: What a turn may take.
        listener: Is told what happens.
    """

    server: UserServer
    model: ChatModel
    model_name: str
    clock: Callable[[], datetime]
    seconds_left: Callable[[], float]
    limits: Limits = field(default_factory=Limits)
    listener: Listener = field(default_factory=Silence)

    async def answer(self, turn: Turn) -> Answer:
        """Answer a turn, or go on with one that was interrupted; one that was answered is not answered again.

        The user's message is saved before, so that the summary looks for what bears on it.

        Raises:
            OutOfTimeError: Time is up; running the turn again goes on.
            ConflictError: Somebody else runs the same turn.
            NotFoundError: The turn's message is not in the session.
            UnavailableError: The user's server or the model does not answer.
        """
        # One batch, so that a turn waits for the slowest of them and not for their sum.
        page = self.server.read(page_uri(turn.session_id))
        texts, stored, tools = await asyncio.gather(
            asyncio.gather(*(self._context(uri) for uri in RESOURCES)), page, self.server.tools()
        )
        context = Context({uri: text for uri, text in zip(RESOURCES, texts, strict=True) if text})
        earlier, said, steps = _split(read_page(stored), turn.message_id)
        run = _Run(self, turn, context=context, tools=toolbox(tools), earlier=earlier, said=said, steps=steps)
        return await run.to_the_end()

    async def _context(self, uri: str) -> str:
        """A context resource; empty where it cannot be read: a turn with less context beats none."""
        try:
            return await self.server.read(uri)
        except SatchelError:
            return ""


class _Run:
    """The loop of one turn."""

    def __init__(
        self,
        assistant: Assistant,
        turn: Turn,
        *,
        context: Context,
        tools: Toolbox,
        earlier: Sequence[Stored],
        said: Stored,
        steps: list[Stored],
    ) -> None:
        self._assistant = assistant
        self._turn = turn
        self._context = context
        self._tools = tools
        self._said = said
        self._steps = steps
        self._history = trim(conversation(earlier), assistant.limits.history_tokens)
        self._spending = Spending(assistant.limits.budget, assistant.model_name)
        for step in steps:
            if step.role == "assistant":
                self._spending.add(Usage.of(step.agent.get("usage", {})))
        self._system = system_blocks(context)
        sent = [
            said.content,
            *(block["text"] for m in self._history for block in m["content"] if block["type"] == "text"),
        ]
        self._before = context_block(context, sent=sent, now=assistant.clock())

    async def to_the_end(self) -> Answer:
        """Ask and call until the model has answered."""
        while not (self._steps and self._steps[-1].agent.get("final")):
            spent = self._spending.exhausted
            if spent:
                await self._record([{"type": "text", "text": money.refusal(spent)}], final=True, usage=Usage())
                self._assistant.listener.text(money.refusal(spent))
                break
            await self._step()
        return answer_of(self._turn, self._said, self._steps, model=self._assistant.model_name, context=self._context)

    async def _step(self) -> None:
        left = self._assistant.seconds_left()
        if left < _LEAST_FOR_MODEL_S:
            raise OutOfTimeError
        reply = await self._assistant.model.reply(
            ModelRequest(
                model=self._assistant.model_name,
                max_tokens=self._assistant.limits.max_tokens,
                system=self._system,
                messages=self._messages(),
                tools=self._tools.definitions,
            ),
            on_text=self._assistant.listener.text,
            timeout_s=left,
        )
        self._spending.add(reply.usage)
        blocks = clean_blocks(reply.content)
        final = reply.stop_reason != "tool_use"
        if final:
            # Cut off inside a call: nobody will answer it.
            blocks = [block for block in blocks if block["type"] != "tool_use"]
            if not text_of(blocks):
                blocks = [*blocks, {"type": "text", "text": _without_words(reply.stop_reason)}]
        await self._record(blocks, final=final, usage=reply.usage)
        if not final:
            await self._call([block for block in blocks if block["type"] == "tool_use"])

    async def _call(self, calls: Sequence[Block]) -> None:
        if self._assistant.seconds_left() < _LEAST_FOR_TOOLS_S:
            # Nothing has been called yet, and whoever goes on must know that nothing was.
            raise OutOfTimeError
        tools = [self._tools.by_name.get(str(call["name"])) for call in calls]
        if all(tool is not None and tool.read_only for tool in tools):
            outcomes = await asyncio.gather(*map(self._one, calls, tools))
        else:
            outcomes = [await self._one(call, tool) for call, tool in zip(calls, tools, strict=True)]
        share = MAX_BLOCKS_BYTES // len(calls) - 200
        results = [
            result_block(str(call["id"]), cut(outcome.text, share), is_error=outcome.is_error)
            for call, outcome in zip(calls, outcomes, strict=True)
        ]
        names = [str(call["name"]) for call in calls]
        await self._save(results_record(self._turn.message_id, self._next, results, names))

    async def _one(self, call: Block, tool: Tool | None) -> ToolOutcome:
        name = str(call["name"])
        if tool is None:
            return ToolOutcome(f"There is no tool named {name}.", is_error=True)
        self._assistant.listener.tool(name, "started")
        arguments = cast("Mapping[str, Any]", call["input"])
        outcome = await self._assistant.server.call(tool, arguments, timeout_s=self._assistant.seconds_left())
        self._assistant.listener.tool(name, "failed" if outcome.is_error else "answered")
        if not outcome.is_error:
            outcome = await self._assistant.server.reduce(tool, arguments, outcome.text, question=self._said.content)
        return ToolOutcome(fence(f"tool:{name}", outcome.text), outcome.is_error)

    async def _record(self, blocks: Sequence[Block], *, final: bool, usage: Usage) -> None:
        record = assistant_record(self._turn.message_id, self._next, blocks, final=final, usage=usage.as_dict())
        await self._save(record)

    async def _save(self, record: Stored) -> None:
        await self._assistant.server.save(self._turn.session_id, record)
        self._steps.append(record)

    @property
    def _next(self) -> int:
        return max((int(step.agent.get("step", 0)) for step in self._steps), default=0) + 1

    def _messages(self) -> list[Message]:
        own = conversation([self._said, *self._steps])
        first = {**own[0], "content": [self._before, *own[0]["content"]]}
        history = self._history
        if history and history[-1]["role"] == "user":
            first = {**first, "content": [*history[-1]["content"], *first["content"]]}
            history = history[:-1]
        messages = [*history, first, *own[1:]]
        if len(own) > 1:
            # The next request of this turn begins with all of this: let the cache have it.
            last = messages[-1]
            *rest, block = last["content"]
            messages[-1] = {**last, "content": [*rest, {**block, "cache_control": CACHE_MARK}]}
        return messages


def page_uri(session_id: str) -> str:
    """The resource that holds the newest messages of a session."""
    return f"context://conversation/{quote(session_id, safe='')}?limit={_HISTORY_MESSAGES}"


def read_page(text: str) -> list[Stored]:
    """The messages on a page of `context://conversation/{session_id}`, oldest first."""
    return [
        Stored(message["message_id"], message["role"], message["content"], message.get("metadata") or {})
        for message in json.loads(text)["messages"]
    ]


def answer_of(
    turn: Turn, said: Stored, steps: Sequence[Stored], *, model: str, context: Context | None = None
) -> Answer:
    """The answer that the messages of a turn hold.

    Args:
        turn: The turn.
        said: The user's message.
        steps: What came of it, in order.
        model: What is priced.
        context: What the resources said.
    """
    usage = sum((Usage.of(step.agent.get("usage", {})) for step in steps), Usage())
    failed = {block["tool_use_id"] for step in steps for block in step.blocks if block.get("is_error")}
    answered = {block["tool_use_id"] for step in steps for block in step.blocks if block["type"] == "tool_result"}
    return Answer(
        session_id=turn.session_id,
        message_ids=[said.message_id, *(step.message_id for step in steps)],
        text=text_of(steps[-1].blocks),
        tool_calls=[
            {
                "name": block["name"],
                "input": block["input"],
                "is_error": block["id"] in failed or block["id"] not in answered,
            }
            for step in steps
            for block in step.blocks
            if block["type"] == "tool_use"
        ],
        usage=usage,
        cost_usd=money.cost_usd(usage, model),
        context=dict(context.texts) if context else {},
    )


def find_answer(stored: Sequence[Stored], turn: Turn, *, model: str) -> Answer | None:
    """The answer of a turn that has one, from the messages of its session; None where it has none yet.

    Raises:
        NotFoundError: The user's message is not among them.
    """
    _, said, steps = _split(stored, turn.message_id)
    return answer_of(turn, said, steps, model=model) if steps and steps[-1].agent.get("final") else None


def _split(stored: Sequence[Stored], message_id: str) -> tuple[list[Stored], Stored, list[Stored]]:
    """What was said before the turn, the message that began it, and what came of it so far.

    What was said after it belongs to other turns.
    """
    place = next((index for index, message in enumerate(stored) if message.message_id == message_id), None)
    if place is None:
        raise NotFoundError("the message is not among the latest of its session")
    steps = [message for message in stored if message.turn == message_id]
    steps.sort(key=lambda step: int(step.agent.get("step", 0)))
    return [message for message in stored[:place] if message.turn != message_id], stored[place], steps


def _without_words(stop_reason: str) -> str:
    if stop_reason == "refusal":
        return "I cannot help with that."
    if stop_reason in ("max_tokens", "model_context_window_exceeded"):
        return "My answer grew too long and was cut off before it began. Please ask for less at once."
    return "I have nothing to say to that."
