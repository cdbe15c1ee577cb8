"""The prompt cache: which part of a request's input has been seen before, up to the last mark that has.

The API caches prefixes in the order tools, system, messages, each ending at a block with `cache_control`.
"""

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from threading import Lock
from typing import Any, cast

# Shorter prefixes are not cached (for most models).
_LEAST_TOKENS = 1_024


def tokens_of(value: Any) -> int:
    """Tokens of a JSON value, about: four bytes each."""
    return len(json.dumps(value, ensure_ascii=False).encode()) // 4


class PromptCache:
    """Hashes of the prefixes that were marked in earlier requests."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._lock = Lock()

    def usage(self, body: Mapping[str, Any]) -> dict[str, int]:
        """The input's part of `usage`; remembers what this request marks."""
        read = written = 0
        with self._lock:
            for digest, tokens in _marked(body):
                if tokens < _LEAST_TOKENS:
                    continue
                if digest in self._seen:
                    read = tokens
                else:
                    written = tokens
                    self._seen.add(digest)
        whole = sum(tokens_of(block) for block in _blocks(body))
        created = max(written - read, 0)
        return {
            "input_tokens": max(whole - read - created, 1),
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": created,
        }


def _marked(body: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Hash and tokens of each prefix that ends at a mark, shortest first."""
    digest, tokens = sha256(str(body.get("model")).encode()), 0
    for block in _blocks(body):
        bare = {key: value for key, value in block.items() if key != "cache_control"}
        digest.update(json.dumps(bare, ensure_ascii=False).encode())
        tokens += tokens_of(bare)
        if "cache_control" in block:
            yield digest.hexdigest(), tokens


def _blocks(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Everything that is read, in the API's order."""
    yield from cast("list[dict[str, Any]]", body.get("tools") or [])
    system: str | list[dict[str, Any]] = body.get("system") or []
    yield from [{"type": "text", "text": system}] if isinstance(system, str) else system
    for message in body["messages"]:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            yield {"role": message["role"], **block}
