"""The conversation summary in a language model's words: what it is asked, and what of its answer counts.

The sections and the ages stay ours. An answer that does not hold together is no answer, and the rules' words stand.
"""

import json
from collections.abc import Mapping
from typing import Any, cast

from satchel.llm.structured import Question
from satchel.memory.excerpt import excerpt
from satchel.memory.prompts import read_prompt
from satchel.memory.summary import Summary, Wording

_PROMPT = "summarise_conversation.v1"
_TEXT_CHARS = 1_000
_MAX_TOKENS = 1_200
_MAX_LINES = 10
_LINE_CHARS = 300
_FOCUS_CHARS = 120
_LINE = {"type": "string"}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "recent": {"type": "array", "items": _LINE},
        "past": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"index": {"type": "integer"}, "line": _LINE},
                "required": ["index", "line"],
                "additionalProperties": False,
            },
        },
        "focus": _LINE,
    },
    "required": ["recent", "past", "focus"],
    "additionalProperties": False,
}


def summary_question(summary: Summary) -> Question:
    """The question whose answer words `summary`; the same summary is the same question."""
    material = {
        "recent": [{"role": message.role, "text": excerpt(message.content, _TEXT_CHARS)} for message in summary.recent],
        "past": [
            {"index": index, "role": message.role, "text": excerpt(message.content, _TEXT_CHARS)}
            for index, message in enumerate(summary.relevant)
        ],
        "concern": excerpt(summary.query, _TEXT_CHARS),
    }
    return Question(
        prompt=f"memory.{_PROMPT}",
        system=read_prompt(_PROMPT),
        text=json.dumps(material, ensure_ascii=False),
        schema=_SCHEMA,
        max_tokens=_MAX_TOKENS,
    )


def read_wording(answer: Mapping[str, Any], summary: Summary) -> Wording | None:
    """What of a model's answer counts; None where it says nothing of the recent messages or has another shape.

    A line about a past message that was not sent is left out; lines are cut, and no more than ten are kept.
    """
    recent = _lines(answer.get("recent"))
    focus = answer.get("focus")
    if not recent or not isinstance(focus, str) or not focus.strip():
        return None
    past: dict[int, str] = {}
    for told in cast("list[Any]", answer.get("past") if isinstance(answer.get("past"), list) else []):
        entry = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
        index, line = entry.get("index"), entry.get("line")
        known = isinstance(index, int) and not isinstance(index, bool) and 0 <= index < len(summary.relevant)
        if known and isinstance(line, str) and line.strip():
            past.setdefault(cast("int", index), excerpt(line, _LINE_CHARS))
    return Wording(recent, past, excerpt(focus, _FOCUS_CHARS))


def _lines(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    lines = [line for line in cast("list[Any]", value) if isinstance(line, str) and line.strip()]
    return tuple(excerpt(line, _LINE_CHARS) for line in lines[:_MAX_LINES])
