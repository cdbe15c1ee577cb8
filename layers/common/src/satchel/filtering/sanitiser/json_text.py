"""JSON that stands in a text: read without losing anything, and edited in place.

Only the tokens that change are written anew, so spacing, the spelling of numbers and the order of everything survive.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from satchel.filtering.sanitiser.patterns import compile_bytes

Path = tuple[str | int, ...]
_TOKEN = compile_bytes(rb"\"(?:[^\"\\]|\\.)*\"|[{}\[\],:]|[^\s{}\[\],:\"]+")


class _DuplicateKeyError(ValueError):
    """An object names a key twice: a parsed form would hide the first value."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    parsed = dict(pairs)
    if len(parsed) != len(pairs):
        raise _DuplicateKeyError
    return parsed


def parse_embedded(text: str) -> Any:
    """The object, array or JSON-encoded string that the text is; None where it is none of these.

    Duplicate keys, and nesting beyond the parser's depth, make it a plain text.
    """
    first = text.lstrip()[:1]
    if not first or first not in '{["' or len(text) < 2:
        return None
    last = text.rstrip()[-1:]
    if last != {"{": "}", "[": "]", '"': '"'}[first]:
        return None
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None


class Token(NamedTuple):
    """A key or a scalar of a JSON text: `[start, end)` in bytes, and where it stands."""

    start: int
    end: int
    path: Path
    is_key: bool


def tokens(data: bytes) -> Iterator[Token]:
    """Keys and scalar values of valid JSON, in text order. A key's path ends in the key itself."""
    path: list[str | int] = []
    in_object: list[bool] = []
    expects_key = False
    for match in _TOKEN.finditer(data):
        token = match.group()
        if token in b"{[":
            in_object.append(token == b"{")
            path.append("" if token == b"{" else 0)
            expects_key = token == b"{"
        elif token in b"}]":
            in_object.pop()
            path.pop()
        elif token == b",":
            expects_key = in_object[-1]
            if not expects_key:
                path[-1] = int(path[-1]) + 1
        elif token == b":":
            expects_key = False
        else:
            if expects_key:
                path[-1] = json.loads(token.decode("utf-8", "surrogatepass"))
            yield Token(match.start(), match.end(), tuple(path), is_key=expects_key)


def edit(text: str, values: Mapping[Path, Any], keys: Mapping[Path, str]) -> str:
    """The JSON text with some scalars and some keys replaced.

    Args:
        text: Valid JSON.
        values: Path of a scalar -> what stands there instead.
        keys: Path of a key, the old key last -> the new key.
    """
    data = text.encode("utf-8", "surrogatepass")
    pieces: list[bytes] = []
    at = 0
    for token in tokens(data):
        wanted = keys if token.is_key else values
        if token.path in wanted:
            is_ascii = data[token.start : token.end].isascii()
            written = json.dumps(wanted[token.path], ensure_ascii=is_ascii)
            pieces += [data[at : token.start], written.encode("utf-8", "surrogatepass")]
            at = token.end
    return (b"".join(pieces) + data[at:]).decode("utf-8", "surrogatepass")


def line_of(text: str, path: Path) -> int:
    """The line, from 1, at which the key or value of this path stands in a JSON text; 1 if it stands nowhere."""
    data = text.encode("utf-8", "surrogatepass")
    for token in tokens(data):
        if token.path[: len(path)] == path:
            return data.count(b"\n", 0, token.start) + 1
    return 1
