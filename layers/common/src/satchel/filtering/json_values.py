"""What a JSON value is, for code that walks values of unknown shape.

Pure.
"""

import json
from typing import Any, TypeGuard

MAX_DEPTH = 200

# Keys and indices from the root of a value to a part of it.
Path = tuple[str | int, ...]


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether the value is a JSON object."""
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    """Whether the value is a JSON array."""
    return isinstance(value, list)


def minified(value: Any) -> str:
    """The value as JSON without spaces; text as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def size_bytes(value: Any) -> int:
    """Bytes of UTF-8 that the value takes as minified JSON; a lone surrogate counts as three."""
    return len(minified(value).encode("utf-8", "surrogatepass"))


def field_path(parts: Path) -> str:
    """A path as people write it: `("messages", 3, "text")` is `messages[3].text`."""
    path = ""
    for part in parts:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path


def is_deeper(value: Any, levels: int) -> bool:
    """Whether arrays and objects are nested beyond so many levels. Walks without recursion."""
    current: list[Any] = [value]
    for _ in range(levels):
        inner: list[Any] = []
        for part in current:
            members = part.values() if is_object(part) else part if is_array(part) else ()
            inner += [member for member in members if isinstance(member, dict | list)]
        if not inner:
            return False
        current = inner
    return True
