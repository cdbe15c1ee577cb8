"""How a turn is kept as messages, and read back: the gateway itself remembers nothing.

A turn is the user's message `M` and, under ids made of it, what came of it: `M.1` the model's first message, `M.2` the
results of the tools it called, `M.3` its next message … Saving any of them again is the same message, so that a turn
that is run again goes on where it stopped. `metadata.agent` holds the API's content blocks; `content` is what a person
reads and what search finds, which is why results of tools, copies of what is elsewhere, are not in it. Where only a
note stands for them, `metadata.step` is true: the message is part of the work on an answer, and nobody said it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

Block = dict[str, Any]

# Below the store's 65,536 bytes of metadata, with room for the rest of it.
MAX_BLOCKS_BYTES = 48_000
THINKING = ("thinking", "redacted_thinking")
_KEPT_FIELDS = {
    "text": ("type", "text"),
    "tool_use": ("type", "id", "name", "input"),
    "thinking": ("type", "thinking", "signature"),
    "redacted_thinking": ("type", "data"),
}


@dataclass(frozen=True)
class Stored:
    """A message of the session as the store has it.

    Attributes:
        message_id: Its id.
        role: `user`, `assistant`, `system` or `tool`.
        content: Its text.
        metadata: What was kept with it.
    """

    message_id: str
    role: str
    content: str
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def agent(self) -> Mapping[str, Any]:
        """What this module kept with it; empty for messages of others."""
        kept = self.metadata.get("agent")
        return cast("Mapping[str, Any]", kept) if isinstance(kept, dict) else {}

    @property
    def turn(self) -> str | None:
        """The id of the user's message that it came of."""
        turn = self.agent.get("turn")
        return turn if isinstance(turn, str) else None

    @property
    def blocks(self) -> list[Block]:
        """Its content blocks; its text as one block where none were kept."""
        kept = self.agent.get("blocks")
        if isinstance(kept, list):
            return [block for block in cast("list[Any]", kept) if _is_block(block)]
        return [{"type": "text", "text": self.content}] if self.content.strip() else []


def step_id(message_id: str, step: int) -> str:
    """The id of step `step` (1, 2, …) of the turn of the user's message `message_id`."""
    return f"{message_id}.{step}"


def clean_blocks(content: Sequence[Mapping[str, Any]]) -> list[Block]:
    """The model's blocks as they may be sent back: no empty text, no fields of answers; thinking is untouched."""
    blocks: list[Block] = []
    for block in content:
        if block["type"] == "text" and not str(block["text"]).strip():
            continue
        names = _KEPT_FIELDS.get(block["type"], tuple(block))
        blocks.append({name: block[name] for name in names if name in block})
    return blocks


def text_of(blocks: Sequence[Mapping[str, Any]]) -> str:
    """The text that a person reads."""
    return "\n\n".join(str(block["text"]) for block in blocks if block["type"] == "text").strip()


def assistant_record(turn: str, step: int, blocks: Sequence[Block], *, final: bool, usage: Mapping[str, Any]) -> Stored:
    """A message of the model, to be saved."""
    calls = [str(block["name"]) for block in blocks if block["type"] == "tool_use"]
    said = text_of(blocks)
    content = said or (f"[calls {', '.join(calls)}]" if calls else "[no answer]")
    agent: dict[str, Any] = {"turn": turn, "step": step, "final": final, "usage": dict(usage)}
    if any(block["type"] != "text" for block in blocks):
        agent["blocks"] = list(blocks)
    marked = {"step": True} if calls and not said else {}
    return Stored(step_id(turn, step), "assistant", content, {"agent": agent, **marked})


def storable(record: Stored) -> Stored:
    """`record` as the store takes it: where it is too large without thinking, then without the input of calls."""
    blocks = record.agent.get("blocks")
    if not isinstance(blocks, list) or json_bytes(blocks) <= MAX_BLOCKS_BYTES:
        return record
    kept = [block for block in record.blocks if block["type"] not in THINKING]
    if json_bytes(kept) > MAX_BLOCKS_BYTES:
        kept = [_without_input(block) for block in kept]
    return replace(record, metadata={**record.metadata, "agent": {**record.agent, "blocks": kept}})


def results_record(turn: str, step: int, results: Sequence[Block], names: Sequence[str]) -> Stored:
    """The results of the tools that a message called, to be saved."""
    ends = ["failed" if result.get("is_error") else "answered" for result in results]
    content = "[" + ", ".join(f"{name} {end}" for name, end in zip(names, ends, strict=True)) + "]"
    agent: dict[str, Any] = {"turn": turn, "step": step, "blocks": list(results)}
    return Stored(step_id(turn, step), "tool", content, {"agent": agent, "step": True})


def result_block(call_id: str, text: str, *, is_error: bool = False) -> Block:
    """The answer to one tool call."""
    block: Block = {"type": "tool_result", "tool_use_id": call_id, "content": text}
    return {**block, "is_error": True} if is_error else block


def cut(text: str, max_bytes: int) -> str:
    """`text`, cut on a whole character to at most `max_bytes` of JSON, with a notice where it was cut."""
    if json_bytes(text) <= max_bytes:
        return text
    notice = f"\n[cut here: {len(text)} characters in all]"
    kept = text[:max_bytes]
    while json_bytes(kept + notice) > max_bytes and kept:
        kept = kept[: len(kept) * 9 // 10]
    return kept + notice


def json_bytes(value: Any) -> int:
    """Size as JSON in bytes of UTF-8."""
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _is_block(value: Any) -> bool:
    """Whether a stored value is a block we made: anybody may save messages with metadata of their own."""
    if not isinstance(value, dict):
        return False
    block = cast("Block", value)
    needed = _KEPT_FIELDS.get(str(block.get("type")))
    if block.get("type") == "tool_result":
        needed = ("tool_use_id", "content")
    return needed is not None and all(name in block for name in needed)


def _without_input(block: Block) -> Block:
    if block["type"] != "tool_use":
        return block
    return {**block, "input": {"omitted": f"{json_bytes(block['input'])} bytes"}}
