"""Signed thinking: it holds only after exactly what came before it when it was thought.

https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, cast

Block = dict[str, Any]


def signed(body: Mapping[str, Any], content: Sequence[Mapping[str, Any]]) -> list[Block]:
    """The blocks of a reply to `body`, its thinking signed for this place."""
    signature = _signature(body, cast("list[dict[str, Any]]", body["messages"]))
    return [
        {**block, "signature": signature} if block.get("type") == "thinking" and "signature" not in block else {**block}
        for block in content
    ]


def thinking_refusal(body: Mapping[str, Any]) -> str | None:
    """Why the API would refuse the thinking that a conversation sends back."""
    messages = cast("list[dict[str, Any]]", body["messages"])
    for index, place, block in _thoughts(messages):
        if block.get("signature") != _signature(body, messages[:index]):
            return (
                f"messages.{index}.content.{place}: Invalid `signature` in `thinking` block. The block is bound to a "
                "different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "
                '"drop_block".'
            )
    return None


def _thoughts(messages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, int, Block]]:
    for index, message in enumerate(messages):
        if message["role"] == "assistant" and isinstance(message["content"], list):
            for place, block in enumerate(cast("list[Block]", message["content"])):
                if block.get("type") == "thinking":
                    yield index, place, block


def _signature(body: Mapping[str, Any], before: Sequence[Mapping[str, Any]]) -> str:
    prefix = [body.get("system"), body.get("tools"), before]
    return sha256(json.dumps(_unmarked(prefix), sort_keys=True).encode()).hexdigest()


def _unmarked(value: Any) -> Any:
    """`value` without cache marks, which may move."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {name: _unmarked(inner) for name, inner in fields.items() if name != "cache_control"}
    if isinstance(value, list):
        return [_unmarked(inner) for inner in cast("list[Any]", value)]
    return value
