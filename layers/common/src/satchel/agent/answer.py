"""The answer of a turn, as the messages of its session hold it: it can be read again at any time, by anybody."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from satchel.agent.budget import Usage, cost_usd
from satchel.agent.exchange import Stored, text_of
from satchel.agent.prompt import Context
from satchel.errors import NotFoundError

_HISTORY_MESSAGES = 200


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
    requests = [Usage.of(step.agent.get("usage", {})) for step in steps]
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
        usage=sum(requests, Usage()),
        cost_usd=sum((cost_usd(usage, model) for usage in requests), Decimal(0)),
        context=dict(context.texts) if context else {},
    )


def find_answer(stored: Sequence[Stored], turn: Turn, *, model: str) -> Answer | None:
    """The answer of a turn that has one, from the messages of its session; None where it has none yet.

    Raises:
        NotFoundError: The user's message is not among them.
    """
    _, said, steps = split(stored, turn.message_id)
    return answer_of(turn, said, steps, model=model) if steps and steps[-1].agent.get("final") else None


def split(stored: Sequence[Stored], message_id: str) -> tuple[list[Stored], Stored, list[Stored]]:
    """What was said before the turn, the message that began it, and what came of it so far.

    What was said after it belongs to other turns.
    """
    place = next((index for index, message in enumerate(stored) if message.message_id == message_id), None)
    if place is None:
        raise NotFoundError("the message is not among the latest of its session")
    steps = [message for message in stored if message.turn == message_id]
    steps.sort(key=lambda step: int(step.agent.get("step", 0)))
    return [message for message in stored[:place] if message.turn != message_id], stored[place], steps
