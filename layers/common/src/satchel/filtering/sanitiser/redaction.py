"""Writing something harmless in place of what was found."""

from satchel.filtering.sanitiser.configuration import Strategy
from satchel.filtering.sanitiser.finding import Action
from satchel.filtering.sanitiser.patterns import compile_bytes
from satchel.filtering.sanitiser.span import Span

MASK = b"[REDACTED]"
_SHOWN = 4
# Less than this and four characters would be too much of it.
_SHOWN_FROM = 12
_IN_JSON = compile_bytes(rb"(\\*\")\s*:\s*\z")
_SCALAR = compile_bytes(rb"-?\d[\d.eE+-]*")

ACTIONS: dict[Strategy, Action] = {"full": "redacted", "partial": "masked", "remove": "removed"}


def redact(data: bytes, spans: list[Span], strategy: Strategy) -> bytes:
    """The text with each span replaced. Spans are in order and do not overlap; offsets are bytes.

    A bare number that is the value in a piece of JSON gets quotes, so that the piece stays JSON.
    """
    pieces: list[bytes] = []
    at = 0
    for span in spans:
        replacement = _replacement(data, span, strategy)
        if _SCALAR.fullmatch(data[span.start : span.end]) is not None:
            key_end = _IN_JSON.search(data[max(0, span.start - 24) : span.start])
            if key_end is not None:
                replacement = key_end.group(1) + replacement + key_end.group(1)
        pieces += [data[at : span.start], replacement]
        at = span.end
    return b"".join(pieces) + data[at:]


def _replacement(data: bytes, span: Span, strategy: Strategy) -> bytes:
    if strategy == "remove":
        return b""
    if strategy == "partial" and span.shows_tail and span.end - span.start >= _SHOWN_FROM:
        tail = data[span.start : span.end].decode("utf-8", "replace")[-_SHOWN:]
        if tail.isalnum() and tail.isascii():
            return b"****" + tail.encode()
    return MASK
