"""One turn: what the user said, to what the assistant answers, with the tools it calls on the way."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from satchel.agent.answer import Answer, Turn, answer_of, page_uri, read_page, split
from satchel.agent.budget import Budget, Spending, Usage, refusal
from satchel.agent.exchange import (
    MAX_BLOCKS_BYTES,
    Block,
    Stored,
    assistant_record,
    clean_blocks,
    cut,
    result_block,
    results_record,
    storable,
    text_of,
)
from satchel.agent.fencing import fence
from satchel.agent.history import Message, conversation, trim
from satchel.agent.ports import ChatModel, Listener, ModelRequest, OutOfTimeError, Silence, ToolOutcome, UserServer
from satchel.agent.prompt import CACHE_MARK, RESOURCES, Context, context_block, system_blocks
from satchel.agent.routing import Tool, Toolbox, toolbox
from satchel.errors import SatchelError

# Less than this is no time to begin a request to the model, or a tool, in.
_LEAST_FOR_MODEL_S = 2.0
_LEAST_FOR_TOOLS_S = 8.0


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
        try:
            async with asyncio.timeout(self.seconds_left()):
                texts, stored, tools = await asyncio.gather(
                    asyncio.gather(*(self._context(uri) for uri in RESOURCES)),
                    self.server.read(page_uri(turn.session_id)),
                    self.server.tools(),
                )
        except TimeoutError as error:
            raise OutOfTimeError from error
        context = Context({uri: text for uri, text in zip(RESOURCES, texts, strict=True) if text})
        earlier, said, steps = split(read_page(stored), turn.message_id)
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
        self._made: set[str] = set()
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
                await self._record([{"type": "text", "text": refusal(spent)}], final=True, usage=Usage())
                self._assistant.listener.text(refusal(spent))
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
        calls = [block for block in blocks if block["type"] == "tool_use"] if reply.stop_reason == "tool_use" else []
        # A paused message is sent back as it is, and goes on.
        final = not calls and (reply.stop_reason != "pause_turn" or not blocks)
        if final:
            # Cut off inside a call: nobody will answer it.
            blocks = [block for block in blocks if block["type"] != "tool_use"]
            if not text_of(blocks):
                blocks = [*blocks, {"type": "text", "text": _without_words(reply.stop_reason)}]
        await self._record(blocks, final=final, usage=reply.usage)
        if calls:
            await self._call(calls)

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
        if not isinstance(call["input"], dict):
            return ToolOutcome("The input of a tool is an object.", is_error=True)
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
        await self._assistant.server.save(self._turn.session_id, storable(record))
        self._steps.append(record)
        self._made.add(record.message_id)

    @property
    def _next(self) -> int:
        return max((int(step.agent.get("step", 0)) for step in self._steps), default=0) + 1

    def _messages(self) -> list[Message]:
        # What an earlier run of this turn thought, it thought after another context than this run's.
        own = conversation([self._said, *self._steps], thinking_of=self._made)
        first = {**own[0], "content": [self._before, *own[0]["content"]]}
        history = self._history
        if history and history[-1]["role"] == "user":
            first = {**first, "content": [*history[-1]["content"], *first["content"]]}
            history = history[:-1]
        messages = [*history, first, *own[1:]]
        if messages[-1] is not first and messages[-1]["role"] == "user":
            # The next request of this turn begins with all of this: let the cache have it.
            last = messages[-1]
            *rest, block = last["content"]
            messages[-1] = {**last, "content": [*rest, {**block, "cache_control": CACHE_MARK}]}
        return messages


def _without_words(stop_reason: str) -> str:
    if stop_reason == "refusal":
        return "I cannot help with that."
    if stop_reason in ("max_tokens", "model_context_window_exceeded"):
        return "My answer grew too long and was cut off before it began. Please ask for less at once."
    return "I have nothing to say to that."
