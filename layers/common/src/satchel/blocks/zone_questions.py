"""What a model is asked about the zone, and what of its answer counts.

The undecided messages are asked in windows of 40 messages, each with the context before it, several ids to a
question. An answer counts id by id: what is missing, doubled with another action, or out of range falls back alone.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from satchel.blocks.builder import Planned
from satchel.blocks.decision import Decision
from satchel.blocks.prompts import read_prompt
from satchel.llm.structured import Question

_PROMPT = "decide_zone.v1"
_WINDOW = 40
_TEXT_CHARS = 600
_TOKENS_BASE = 400
_TOKENS_EACH = 120
_MAX_REASON_CHARS = 300
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "decisions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "action": {"type": "string", "enum": ["APPEND", "NEW_BLOCK"]},
                    "score": {"type": "number"},
                    "reason": {"type": "string"},
                },
                "required": ["id", "action", "score", "reason"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["decisions"],
    "additionalProperties": False,
}


class ZoneQuestion(NamedTuple):
    """One question, and the messages it asks about, by id."""

    question: Question
    asked: Mapping[str, Planned]


class Verdict(NamedTuple):
    """What a model says of one message."""

    decision: Decision
    reason: str


def zone_questions(planned: Sequence[Planned], context: int) -> list[ZoneQuestion]:
    """The questions about the undecided messages of a session, in order.

    Args:
        planned: The session's messages.
        context: How many messages before the first undecided one of a window are shown.
    """
    undecided = [index for index, item in enumerate(planned) if item.decision.action is None]
    questions: list[ZoneQuestion] = []
    while undecided:
        first = undecided[0]
        inside = [index for index in undecided if index < first + _WINDOW]
        undecided = undecided[len(inside) :]
        shown = planned[max(0, first - context) : inside[-1] + 1]
        asked = {planned[index].scored.message.message_id: planned[index] for index in inside}
        questions.append(ZoneQuestion(_question(shown, asked), asked))
    return questions


def _question(shown: Sequence[Planned], asked: Mapping[str, Planned]) -> Question:
    return Question(
        prompt=f"blocks.{_PROMPT}",
        system=read_prompt(_PROMPT),
        text="\n".join(_line(item, asked) for item in shown),
        schema=_SCHEMA,
        max_tokens=_TOKENS_BASE + _TOKENS_EACH * len(asked),
    )


def _line(item: Planned, asked: Mapping[str, Planned]) -> str:
    message = item.scored.message
    line: dict[str, Any] = {"id": message.message_id, "who": message.speaker or message.role}
    if item.scored.gap_s is not None:
        line["pause_s"] = round(item.scored.gap_s)
    line["text"] = message.content[:_TEXT_CHARS]
    if message.message_id in asked:
        line["decide"] = True
    return json.dumps(line, ensure_ascii=False)


def read_verdicts(zone: ZoneQuestion, answer: Mapping[str, Any] | None) -> dict[str, Verdict]:
    """The decisions of an answer that count, by message id."""
    items: Any = answer.get("decisions") if answer else None
    if not isinstance(items, list):
        return {}
    found: dict[str, Verdict] = {}
    disputed: set[str] = set()
    for item in cast("list[dict[str, Any]]", items):
        verdict = _verdict(item, zone) if isinstance(item, dict) else None  # pyright: ignore[reportUnnecessaryIsInstance]
        if verdict is None:
            continue
        message_id: str = item["id"]
        if message_id in found and found[message_id].decision.action != verdict.decision.action:
            disputed.add(message_id)
        found.setdefault(message_id, verdict)
    return {message_id: verdict for message_id, verdict in found.items() if message_id not in disputed}


def _verdict(item: Mapping[str, Any], zone: ZoneQuestion) -> Verdict | None:
    message_id, action, score, reason = (item.get(key) for key in ("id", "action", "score", "reason"))
    if not isinstance(message_id, str) or message_id not in zone.asked or action not in ("APPEND", "NEW_BLOCK"):
        return None
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score) or not 0 <= score <= 1:
        return None
    own_score = zone.asked[message_id].decision.score
    told = reason[:_MAX_REASON_CHARS] if isinstance(reason, str) else ""
    return Verdict(Decision(action, "llm", own_score), told)
