"""What an upstream's answer holds, and one answer made of several pages."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

MAX_PAGES = 20
MAX_ITEMS = 10_000
_CURSOR_ARGUMENTS = ("cursor", "next_cursor", "page_token", "pageToken", "after", "starting_after")
_CURSOR_KEYS = frozenset({"next_cursor", "nextcursor", "next_page_token", "nextpagetoken", "next_token", "nexttoken"})
_DEPTH = 4


@dataclass(frozen=True, slots=True)
class UpstreamAnswer:
    """One `tools/call` result, as JSON.

    Attributes:
        value: The structured content, else the JSON or the text of its text blocks.
        is_error: Whether the tool said that it failed.
        attachments: Kind, MIME type and size of each block that is no text.
    """

    value: Any
    is_error: bool = False
    attachments: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


def read_result(result: Mapping[str, Any]) -> UpstreamAnswer:
    """A `CallToolResult` in its wire form."""
    texts: list[str] = []
    attachments: list[dict[str, Any]] = []
    for block in cast("list[dict[str, Any]]", result.get("content") or []):
        if block.get("type") == "text":
            texts.append(str(block.get("text", "")))
        else:
            size = len(str(block.get("data") or block.get("resource") or block.get("uri") or ""))
            attachments.append({"type": block.get("type"), "mimeType": block.get("mimeType"), "chars": size})
    structured = result.get("structuredContent")
    return UpstreamAnswer(
        value=_value_of(texts) if structured is None else structured,
        is_error=result.get("isError") is True,
        attachments=attachments,
    )


def _value_of(texts: list[str]) -> Any:
    values = [_parsed(text) for text in texts]
    if len(values) == 1:
        return values[0]
    return "\n".join(texts) if all(isinstance(value, str) for value in values) else values


def _parsed(text: str) -> Any:
    if text.lstrip()[:1] not in ("[", "{"):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def drain(
    first: UpstreamAnswer,
    arguments: Mapping[str, Any],
    input_schema: Mapping[str, Any],
    call: Callable[[dict[str, Any]], UpstreamAnswer],
    *,
    has_time: Callable[[], bool],
) -> UpstreamAnswer:
    """The first page with the items of the next ones, at most 20 pages and 10,000 items.

    Pages follow while an answer names a next cursor, the tool takes one, and there is time. The envelope is that of
    the last page, so that a cursor that is left over says that there was more. A page that fails ends it.

    Args:
        first: The first page.
        arguments: What it was asked with; an answer to a caller's own cursor is one page.
        input_schema: The tool's; it names the argument that takes a cursor.
        call: Asks the tool again with other arguments.
        has_time: Whether another page may be asked for.
    """
    properties = cast("Mapping[str, Any]", input_schema.get("properties") or {})
    argument = next((name for name in _CURSOR_ARGUMENTS if name in properties), None)
    path = _longest_array(first.value)
    if argument is None or path is None or arguments.get(argument) or first.is_error:
        return first
    items, last, pages = list(_at(first.value, path)), first, 1
    while (cursor := _cursor(last.value)) and pages < MAX_PAGES and len(items) < MAX_ITEMS and has_time():
        page = call({**arguments, argument: cursor})
        more = None if page.is_error else _at(page.value, path)
        if not isinstance(more, list) or not more:
            break
        items += cast("list[Any]", more)
        last, pages = page, pages + 1
    return UpstreamAnswer(_with(last.value, path, items), attachments=first.attachments)


def _longest_array(value: Any) -> tuple[str, ...] | None:
    best: tuple[int, tuple[str, ...]] | None = None
    waiting: list[tuple[tuple[str, ...], Any]] = [((), value)]
    while waiting:
        path, part = waiting.pop(0)
        if isinstance(part, list):
            length = len(cast("list[Any]", part))
            if best is None or length > best[0]:
                best = (length, path)
        elif isinstance(part, dict) and len(path) < _DEPTH:
            waiting += [((*path, key), inner) for key, inner in cast("dict[str, Any]", part).items()]
    return best[1] if best else None


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None
    return value


def _with(value: Any, path: tuple[str, ...], items: list[Any]) -> Any:
    if not path:
        return items
    return {**value, path[0]: _with(value[path[0]], path[1:], items)}


def _cursor(value: Any, depth: int = 3) -> str | None:
    if not isinstance(value, dict) or not depth:
        return None
    entries = cast("dict[str, Any]", value)
    for key, inner in entries.items():
        if key.lower() in _CURSOR_KEYS and isinstance(inner, str) and inner:
            return inner
    found = (_cursor(inner, depth - 1) for inner in entries.values())
    return next((cursor for cursor in found if cursor), None)
