"""A message as the Messages API streams it: server-sent events, text in pieces."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_PIECE_CHARS = 24


def events(message: Mapping[str, Any]) -> Iterator[bytes]:
    """The events of `message`, each as the bytes that are sent.

    https://platform.claude.com/docs/en/build-with-claude/streaming
    """
    usage = message["usage"]
    start: dict[str, Any] = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield _event("message_start", message=start)
    for index, block in enumerate(message["content"]):
        empty, deltas = _begun(block)
        yield _event("content_block_start", index=index, content_block=empty)
        if not index:
            yield _event("ping")
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=ended, usage={"output_tokens": usage["output_tokens"]})
    yield _event("message_stop")


def broken(whole: Sequence[bytes], error: Mapping[str, Any]) -> list[bytes]:
    """The first half of the events of a message, and an error in place of the rest."""
    return [*whole[: len(whole) // 2], _event("error", **error)]


def _begun(block: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as it begins, and what is added to it."""
    match block["type"]:
        case "text":
            pieces = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
            return {**block, "text": ""}, pieces
        case "tool_use":
            written = json.dumps(block["input"], ensure_ascii=False)
            pieces = [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(written)]
            return {**block, "input": {}}, pieces
        case "thinking":
            deltas: list[dict[str, Any]] = [{"type": "thinking_delta", "thinking": block["thinking"]}]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
            return {**block, "thinking": "", "signature": ""}, deltas
        case _:
            return dict(block), []


def _pieces(text: str) -> list[str]:
    return [text[start : start + _PIECE_CHARS] for start in range(0, len(text), _PIECE_CHARS)]


def _event(kind: str, **fields: Any) -> bytes:
    data = json.dumps({"type": kind, **fields}, ensure_ascii=False)
    return f"event: {kind}\ndata: {data}\n\n".encode()
