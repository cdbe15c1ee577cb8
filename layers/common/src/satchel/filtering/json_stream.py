"""Items out of a stream of bytes: NDJSON, a JSON array, or an array inside an object.

Pure. Fed as bytes arrive, to the standard library's C scanner or, inside an object, to ijson's C backend; nothing but
the current chunk is held.
"""

import json
import re
from codecs import getincrementaldecoder
from collections.abc import AsyncIterable, AsyncIterator, Callable
from importlib import import_module
from typing import Any, Literal

from satchel.errors import InvalidInputError, TooLargeError

CHUNK_ITEMS = 2_000
MAX_LINE_BYTES = 16 * 1024 * 1024
MAX_ITEM_CHARS = MAX_LINE_BYTES
# Brackets that may be open at once without an item ending; far more than any answer nests.
MAX_OPEN = 2_000
_SLICE_BYTES = 16 * 1024
_BLANK = b" \t\r\n"
# What the start of a number may end with and be taken for a shorter one: `1e+`.
_MOST_OF_A_NUMBER = 2
_COMMA = re.compile(r"[ \t\r\n]*,[ \t\r\n]*")
_BLANKS = re.compile(r"[ \t\r\n]*")
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
        TooLargeError: One line of NDJSON, or one item of an array, is over 16 MB.
    """
    started = False
    array = form == "array" or bool(path)
    feeder: _ArrayFeeder | _InnerArrayFeeder | _LineFeeder | None = None
    async for block in blocks:
        data = block
        if not started:
            data = data.removeprefix(_BYTE_ORDER_MARK).lstrip(_BLANK)
            if not data:
                continue
            started = True
            array = array or (form == "auto" and data.startswith(b"["))
            feeder = _InnerArrayFeeder(path) if path else _ArrayFeeder() if array else _LineFeeder()
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
    """An array that is the whole document, by the standard scanner: three times as fast as ijson."""

    def __init__(self) -> None:
        self.ready: list[Any] = []
        self._decoder = getincrementaldecoder("utf-8")()
        scanner: Any = json.JSONDecoder(parse_constant=_refuse)
        self._scan_once: Callable[[str, int], tuple[Any, int]] = scanner.scan_once
        self._text = ""
        self._state: Literal["start", "first", "value", "next", "end"] = "start"
        self._wanted = 0
        self._fed = 0

    def feed(self, data: bytes) -> None:
        self._fed += len(data)
        try:
            self._text += self._decoder.decode(data)
        except UnicodeDecodeError as error:
            raise self._refused() from error
        if len(self._text) >= self._wanted:
            self._scan(is_last=False)
            # An item that goes on is scanned again only once twice as much is there: no more than twice in all.
            self._wanted = 2 * len(self._text)
            if len(self._text) > MAX_ITEM_CHARS:
                raise TooLargeError(f"an item of the JSON array is over 16 MB, or not JSON, near byte {self._fed}")

    def close(self) -> None:
        self._scan(is_last=True)
        if self._state != "end":
            raise self._early()

    def _scan(self, *, is_last: bool) -> None:
        text, at, length = self._text, 0, len(self._text)
        while (at := _skip_blanks(text, at)) < length:
            if self._state in ("first", "value") and not (self._state == "first" and text[at] == "]"):
                at, is_waiting = self._items(text, at, is_last=is_last)
                if is_waiting:
                    break
            else:
                self._state, at = self._after(text[at]), at + 1
        self._text = text[at:]

    def _items(self, text: str, at: int, *, is_last: bool) -> tuple[int, bool]:
        """Take items as long as commas follow; where to look on, and whether an item there waits for more."""
        ready, scan_once, comma = self.ready, self._scan_once, _COMMA.match
        length = len(text)
        while True:
            try:
                value, end = scan_once(text, at)
            except (StopIteration, json.JSONDecodeError) as error:
                if is_last or text[at] in ",]}:":
                    raise self._broken(error, text) from error
                return at, True
            except (ValueError, RecursionError) as error:
                raise self._refused() from error
            if length - end <= _MOST_OF_A_NUMBER and not is_last and not text[end:].strip(".eE+-"):  # it may go on
                return at, True
            ready.append(value)
            following = comma(text, end)
            if following is None:
                self._state = "next"
                return end, False
            at = following.end()
            self._state = "value"
            if at == length:
                return at, True

    def _broken(self, error: Exception, text: str) -> InvalidInputError:
        is_early = isinstance(error, json.JSONDecodeError) and (
            error.pos >= len(text) or error.msg.startswith("Unterminated")
        )
        return self._early() if is_early else self._refused()

    def _early(self) -> InvalidInputError:
        return InvalidInputError(f"the JSON array ends early, after byte {self._fed}")

    def _after(self, mark: str) -> Literal["first", "value", "end"]:
        """What may follow a bracket or a comma."""
        if self._state == "start" and mark == "[":
            return "first"
        if self._state in ("first", "next") and mark == "]":
            return "end"
        if self._state == "next" and mark == ",":
            return "value"
        raise self._refused()

    def _refused(self) -> InvalidInputError:
        return InvalidInputError(f"not a JSON array, or nested too deeply, near byte {self._fed}")


class _InnerArrayFeeder:
    """An array inside an object: what stands around it is passed over by ijson."""

    def __init__(self, path: str) -> None:
        # Only a stream needs it; it has no stubs.
        backend: Any = import_module("ijson.backends.yajl2_c")
        errors: Any = import_module("ijson.common")

        self.ready: list[Any] = []
        self._error: type[Exception] = errors.JSONError
        self._incomplete: type[Exception] = errors.IncompleteJSONError
        self._sink = _Sink(self.ready)
        self._parser: Any = backend.items_coro(self._sink, f"{path}.item", use_float=True)
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


def _skip_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match is not None else at


def _refuse(name: str) -> Any:
    raise ValueError(name)
