"""What the Messages API refuses of a conversation with tools; each rule gives the API's sentence or None."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from satchel.local.fake_claude.prompt_cache import tokens_of
from satchel.local.fake_claude.thinking import thinking_refusal

CONTEXT_WINDOW_TOKENS = 200_000
_MAX_MARKS = 4
_BLOCK_FIELDS = {
    "text": frozenset({"text", "citations"}),
    "tool_use": frozenset({"id", "name", "input", "caller", "toolset_name"}),
    "tool_result": frozenset({"tool_use_id", "content", "is_error", "toolset_name"}),
    "thinking": frozenset({"thinking", "signature"}),
    "redacted_thinking": frozenset({"data"}),
}
_UNMARKED = ("thinking", "redacted_thinking")

Block = dict[str, Any]


def conversation_refusal(body: Mapping[str, Any]) -> str | None:
    """Why the API would refuse the conversation of an otherwise good body."""
    messages = cast("list[dict[str, Any]]", body["messages"])
    contents = [_blocks(message["content"]) for message in messages]
    return (
        _blocks_of_the_api(contents)
        or _texts(body, contents)
        or _pairs(messages, contents)
        or _marks(body, contents)
        or thinking_refusal(body)
        or _size(body)
    )


def _blocks(content: Any) -> list[Block]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else cast("list[Block]", content)


def _blocks_of_the_api(contents: Sequence[Sequence[Block]]) -> str | None:
    for index, blocks in enumerate(contents):
        for place, block in enumerate(blocks):
            kind = str(block.get("type"))
            unknown = sorted(set(block) - _BLOCK_FIELDS.get(kind, frozenset(block)) - {"type", "cache_control"})
            if unknown:
                return f"messages.{index}.content.{place}.{kind}.{unknown[0]}: Extra inputs are not permitted"
            if kind in _UNMARKED and "cache_control" in block:
                return f"messages.{index}.content.{place}.{kind}.cache_control: Extra inputs are not permitted"
    return None


def _texts(body: Mapping[str, Any], contents: Sequence[Sequence[Block]]) -> str | None:
    system = _blocks(body.get("system") or [])
    for blocks in (system, *contents):
        for block in blocks:
            if block.get("type") == "text" and not str(block.get("text", "")).strip():
                wanted = "contain non-whitespace text" if block.get("text") else "be non-empty"
                return f"messages: text content blocks must {wanted}"
    tools: list[Block] = body.get("tools") or []
    names = [str(tool.get("name")) for tool in tools]
    return "tools: Tool names must be unique." if len(set(names)) != len(names) else None


def _pairs(messages: Sequence[Mapping[str, Any]], contents: Sequence[Sequence[Block]]) -> str | None:
    for index, message in enumerate(messages):
        before = contents[index - 1] if index and messages[index - 1]["role"] == "assistant" else ()
        called = [str(block["id"]) for block in before if block.get("type") == "tool_use"]
        results = [str(block["tool_use_id"]) for block in contents[index] if block.get("type") == "tool_result"]
        if message["role"] == "user":
            for result in results:
                if result not in called:
                    return (
                        f"messages.{index}.content: unexpected `tool_use_id` found in `tool_result` blocks: {result}. "
                        "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
                    )
        missing = [call for call in called if call not in results]
        if missing:
            return _unanswered(index - 1, missing)
        kinds = [block.get("type") == "tool_result" for block in contents[index]]
        if called and kinds != sorted(kinds, reverse=True):
            return f"messages.{index}: `tool_result` blocks must come before other content"
    last = [str(block["id"]) for block in contents[-1] if block.get("type") == "tool_use"]
    return _unanswered(len(contents) - 1, last) if last else None


def _unanswered(index: int, calls: Sequence[str]) -> str:
    return (
        f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(calls)}. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    )


def _marks(body: Mapping[str, Any], contents: Sequence[Sequence[Block]]) -> str | None:
    listed: list[Block] = [*(body.get("tools") or []), *_blocks(body.get("system") or [])]
    marks = sum("cache_control" in block for blocks in (listed, *contents) for block in blocks)
    if marks > _MAX_MARKS:
        return f"A maximum of {_MAX_MARKS} blocks with cache_control may be provided. Found {marks}."
    return None


def _size(body: Mapping[str, Any]) -> str | None:
    tokens = tokens_of([body.get("tools"), body.get("system"), body["messages"]])
    if tokens > CONTEXT_WINDOW_TOKENS:
        return f"prompt is too long: {tokens} tokens > {CONTEXT_WINDOW_TOKENS} maximum"
    return None
