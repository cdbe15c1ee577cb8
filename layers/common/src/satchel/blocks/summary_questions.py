"""What a model is asked about changed blocks, and what of its answer counts.

Several blocks to a question. A tag counts when it cites messages of its own block; a block that is missing, doubled
or misshapen falls back to the rules alone.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from satchel.blocks.builder import Block
from satchel.blocks.prompts import read_prompt
from satchel.blocks.sessions import Tags
from satchel.llm.structured import Question

_PROMPT = "summarise.v1"
_BLOCKS_EACH = 8
_CHARS_EACH = 24_000
_TEXT_CHARS = 1_000
# Of a very long block the beginning tells the problem and the end the solution.
_HEAD_MESSAGES = 20
_TAIL_MESSAGES = 40
_TOKENS_EACH = 800
_MAX_TAG_CHARS = 600
_MAX_TRIALS = 20
_CITED: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "message_ids": {"type": "array", "items": {"type": "string"}}},
    "required": ["text", "message_ids"],
    "additionalProperties": False,
}
_PARTS = ("context", "problem", "solution", "insight")
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "blocks": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "block": {"type": "string"},
                    **dict.fromkeys(_PARTS, _CITED),
                    "trials": {"type": "array", "items": _CITED},
                },
                "required": ["block", *_PARTS, "trials"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["blocks"],
    "additionalProperties": False,
}


class SummaryQuestion(NamedTuple):
    """One question, and the blocks it asks about, by id."""

    question: Question
    asked: Mapping[str, Block]


class Summary(NamedTuple):
    """The tags of a block, and whether all of them could be taken as they were told."""

    tags: Tags
    complete: bool


def summary_questions(blocks: Sequence[Block]) -> list[SummaryQuestion]:
    """The questions about some blocks, in order."""
    questions: list[SummaryQuestion] = []
    texts: list[str] = []
    asked: dict[str, Block] = {}
    for block in blocks:
        text = _block_text(block)
        if asked and (len(asked) == _BLOCKS_EACH or sum(map(len, texts)) + len(text) > _CHARS_EACH):
            questions.append(_question(texts, asked))
            texts, asked = [], {}
        texts.append(text)
        asked[block.block_id] = block
    if asked:
        questions.append(_question(texts, asked))
    return questions


def _question(texts: Sequence[str], asked: Mapping[str, Block]) -> SummaryQuestion:
    question = Question(
        prompt=f"blocks.{_PROMPT}",
        system=read_prompt(_PROMPT),
        text="\n".join(texts),
        schema=_SCHEMA,
        max_tokens=_TOKENS_EACH * len(asked),
    )
    return SummaryQuestion(question, asked)


def _block_text(block: Block) -> str:
    members = block.members
    if len(members) > _HEAD_MESSAGES + _TAIL_MESSAGES:
        members = [*members[:_HEAD_MESSAGES], *members[-_TAIL_MESSAGES:]]
    lines = [json.dumps({"block": block.block_id}, ensure_ascii=False)]
    for item in members:
        message = item.scored.message
        who = message.speaker or message.role
        line = {"id": message.message_id, "who": who, "text": message.content[:_TEXT_CHARS]}
        lines.append(json.dumps(line, ensure_ascii=False))
    return "\n".join(lines)


def read_summaries(question: SummaryQuestion, answer: Mapping[str, Any] | None) -> dict[str, Summary]:
    """The summaries of an answer that count, by block id."""
    items: Any = answer.get("blocks") if answer else None
    if not isinstance(items, list):
        return {}
    found: dict[str, Summary] = {}
    doubled: set[str] = set()
    for item in cast("list[dict[str, Any]]", items):
        name = item.get("block") if isinstance(item, dict) else None  # pyright: ignore[reportUnnecessaryIsInstance]
        if not isinstance(name, str) or name not in question.asked:
            continue
        if name in found:
            doubled.add(name)
        found[name] = _summary(item, question.asked[name])
    return {name: summary for name, summary in found.items() if name not in doubled}


def _summary(item: Mapping[str, Any], block: Block) -> Summary:
    ids = set(block.message_ids)
    parts = {part: _cited(item.get(part), ids) for part in _PARTS}
    listed: Any = item.get("trials")
    trials = [_cited(trial, ids) for trial in cast("list[Any]", listed)] if isinstance(listed, list) else [None]
    tags = Tags(
        CONTEXT=parts["context"] or "",
        PROBLEM=parts["problem"] or "",
        TRIAL=tuple(dict.fromkeys(trial for trial in trials if trial))[:_MAX_TRIALS],
        SOLUTION=parts["solution"] or "",
        INSIGHT=parts["insight"] or "",
    )
    return Summary(tags, complete=None not in parts.values() and None not in trials)


def _cited(value: Any, ids: set[str]) -> str | None:
    """The text of a tag; None where it is misshapen or cites nothing of its block."""
    if not isinstance(value, dict):
        return None
    text: Any = cast("dict[str, Any]", value).get("text")
    cited: Any = cast("dict[str, Any]", value).get("message_ids")
    if not isinstance(text, str) or not isinstance(cited, list):
        return None
    if not text.strip():
        return ""
    return text.strip()[:_MAX_TAG_CHARS] if cited and ids.issuperset(map(str, cast("list[Any]", cited))) else None
