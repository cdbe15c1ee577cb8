"""Where in a JSON text a field stands, so that a mistake in a configuration file can be told by line.

Pure.
"""

import json
from json import decoder as json_decoder
from typing import Any, cast

_SPACE = " \t\n\r"


def line_of(text: str, path: tuple[str | int, ...]) -> int:
    """The line, from 1, of the value at `path`, or of the deepest part of the path that exists.

    `text` must be valid JSON.
    """
    at = _skip(text, 0)
    for part in path:
        inner = _member(text, at, part)
        if inner is None:
            break
        at = inner
    return text.count("\n", 0, at) + 1


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _member(text: str, at: int, part: str | int) -> int | None:
    decoder = json.JSONDecoder()
    closing = {"{": "}", "[": "]"}.get(text[at])
    if closing is None:
        return None
    index, at = 0, _skip(text, at + 1)
    while text[at] != closing:
        name: str | int = index
        if closing == "}":
            name, at = _string(text, at + 1)
            at = _skip(text, _skip(text, at) + 1)
        if name == part:
            return at
        _, at = decoder.raw_decode(text, at)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
        index += 1
    return None


def _string(text: str, at: int) -> tuple[str, int]:
    scan = cast("Any", json_decoder).scanstring  # the standard library's own; its stubs leave it out
    return cast("tuple[str, int]", scan(text, at))
