"""Items out of a stream of bytes: NDJSON, a JSON array, or an array inside an object.

Pure. The parser is ijson's C backend, fed as bytes arrive; nothing but the current chunk is held.
"""

import json
from collections.abc import AsyncIterable, AsyncIterator
from importlib import import_module
from typing import Any, Literal

from satchel.errors import InvalidInputError, TooLargeError

CHUNK_ITEMS = 2_000
MAX_LINE_BYTES = 16 * 1024 * 1024
# Brackets that may be open at once without an item ending; far more than any answer nests.
MAX_OPEN = 2_000
_SLICE_BYTES = 16 * 1024
_BLANK = b" \t\r\n"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


async def items(
    blocks: AsyncIterable[bytes],
    *,
    form: Literal["auto", "array", "ndjson"] = "auto",
    path: str = "",
    chunk_items: int = CHUNK_ITEMS,
) -> AsyncIterator[list[Any]]:
    """Yields the items in chunks of about `chunk_items`.

    Args:
        blocks: The bytes, cut anywhere.
        form: `auto` takes what starts with `[` for an array and anything else for NDJSON, one value a line.
        path: Dotted path of the array inside an object, such as `data.messages`; only with `array`.
        chunk_items: Items in one chunk.

    Raises:
        InvalidInputError: The bytes are not JSON; the message names the line, or the place, and no content.
        TooLargeError: One line of NDJSON is over 16 MB.
    """
    started = False
    array = form == "array" or bool(path)
    feeder: _ArrayFeeder | _LineFeeder | None = None
    async for block in blocks:
        data = block
        if not started:
            data = data.removeprefix(_BYTE_ORDER_MARK).lstrip(_BLANK)
            if not data:
                continue
            started = True
            array = array or (form == "auto" and data.startswith(b"["))
            feeder = _ArrayFeeder(path) if array else _LineFeeder()
        assert feeder is not None
        feeder.feed(data)
        while len(feeder.ready) >= chunk_items:
            yield feeder.ready[:chunk_items]
            del feeder.ready[:chunk_items]
    if feeder is not None:
        feeder.close()
        if feeder.ready:
            yield list(feeder.ready)


class _ArrayFeeder:
    def __init__(self, path: str) -> None:
        # Only a stream needs it; it has no stubs.
        backend: Any = import_module("ijson.backends.yajl2_c")
        errors: Any = import_module("ijson.common")

        self.ready: list[Any] = []
        self._error: type[Exception] = errors.JSONError
        self._incomplete: type[Exception] = errors.IncompleteJSONError
        prefix = f"{path}.item" if path else "item"
        self._sink = _Sink(self.ready)
        self._parser: Any = backend.items_coro(self._sink, prefix, use_float=True)
        self._fed = 0
        self._open = 0

    def feed(self, data: bytes) -> None:
        for start in range(0, len(data), _SLICE_BYTES):
            part = data[start : start + _SLICE_BYTES]
            before = self._sink.count
            try:
                self._parser.send(part)
            except (self._error, UnicodeError, OverflowError) as error:
                raise InvalidInputError(f"not a JSON array, near byte {self._fed}") from error
            except StopIteration:
                return
            self._fed += len(part)
            self._check_depth(part, finished_item=self._sink.count > before)

    def _check_depth(self, part: bytes, *, finished_item: bool) -> None:
        # The parser's time grows with the square of the depth, and it has no limit of its own.
        opened = part.count(b"[") + part.count(b"{") - part.count(b"]") - part.count(b"}")
        self._open = 0 if finished_item else self._open + opened
        if self._open > MAX_OPEN:
            raise InvalidInputError(f"the JSON array is nested too deeply, near byte {self._fed}")

    def close(self) -> None:
        try:
            self._parser.close()
        except self._incomplete as error:
            raise InvalidInputError(f"the JSON array ends early, after byte {self._fed}") from error
        except self._error as error:
            raise InvalidInputError(f"not a JSON array, near byte {self._fed}") from error


class _Sink:
    """What ijson sends items to: a list, cleared by its reader."""

    def __init__(self, ready: list[Any]) -> None:
        self._ready = ready
        self.count = 0

    def send(self, item: Any) -> None:
        """Take one item."""
        self._ready.append(item)
        self.count += 1

    append = send


class _LineFeeder:
    def __init__(self) -> None:
        self.ready: list[Any] = []
        self._rest = b""
        self._line = 0

    def feed(self, data: bytes) -> None:
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        if len(self._rest) > MAX_LINE_BYTES:
            raise TooLargeError(f"line {self._line + len(lines) + 1} is over 16 MB")
        self._take(lines)

    def close(self) -> None:
        self._take([self._rest])

    def _take(self, lines: list[bytes]) -> None:
        filled = [line for line in lines if line.strip(_BLANK)]
        if not filled:
            self._line += len(lines)
            return
        try:
            # One call of the C scanner for all lines is twice as fast as one for each.
            together: list[Any] = json.loads(b"[" + b",".join(filled) + b"]", parse_constant=_refuse)
        except (ValueError, RecursionError):
            together = []
        if len(together) == len(filled):
            self.ready += together
            self._line += len(lines)
        else:  # one of them is not JSON, or is two values
            self._one_by_one(lines)

    def _one_by_one(self, lines: list[bytes]) -> None:
        for line in lines:
            self._line += 1
            if line.strip(_BLANK):
                try:
                    self.ready.append(json.loads(line, parse_constant=_refuse))
                except (ValueError, RecursionError) as error:
                    raise InvalidInputError(f"line {self._line} is not JSON") from error


def _refuse(name: str) -> Any:
    raise ValueError(name)
