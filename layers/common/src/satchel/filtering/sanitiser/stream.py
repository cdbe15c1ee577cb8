"""Redaction of a text that arrives in pieces, with bounded memory.

What may still become part of a find is held back: the last 16 KiB of what has come, and up to 64 KiB more only while
a private key is open. What is let out is looked at together with a little of what went before, so that a name in one piece
still tells about the value in the next.
"""

from satchel.filtering.sanitiser.configuration import Strategy  # noqa: TC001 (pyright widens it otherwise)
from satchel.filtering.sanitiser.finding import Finding
from satchel.filtering.sanitiser.redaction import ACTIONS, redact
from satchel.filtering.sanitiser.sanitiser import Sanitiser

HELD_BYTES = 16_384
_CONTEXT_BYTES = 512
_ENDS = (b"\n", b"\r", b" ", b"\t", b",", b";")
_KEY_BYTES = 65_536


class TextStream:
    """One text in pieces; read as plain text, since only a whole JSON text can be parsed.

    Args:
        sanitiser: The engine.
        tool_name: As for `Sanitiser.sanitise`.

    Attributes:
        findings: What was found so far, in text order.
    """

    def __init__(self, sanitiser: Sanitiser, *, tool_name: str = "") -> None:
        self._detector = sanitiser.detector_for(tool_name)
        self._strategy: Strategy = sanitiser.config.strategy
        self._buffer = b""
        self._let_out = 0  # so much of the buffer is context that was returned before
        self.findings: list[Finding] = []

    def feed(self, piece: str) -> str:
        """Take a piece; return what is now safe to pass on, which may be nothing."""
        self._buffer += piece.encode("utf-8", "surrogatepass")
        if len(self._buffer) - self._let_out < 2 * HELD_BYTES:
            return ""
        return self._release(self._cut(len(self._buffer) - HELD_BYTES))

    def finish(self) -> str:
        """Return the rest."""
        return self._release(len(self._buffer))

    def _release(self, cut: int) -> str:
        spans = [span for span in self._detector.find(self._buffer) if span.end > self._let_out]
        cut = min([cut, *(span.start for span in spans if span.start < cut < span.end)])
        cut = max(cut, self._let_out)
        done = [
            span._replace(start=max(span.start, self._let_out) - self._let_out, end=span.end - self._let_out)
            for span in spans
            if span.end <= cut
        ]
        released = redact(self._buffer[self._let_out : cut], done, self._strategy)
        self.findings += [Finding(span.rule, span.finding_class, "", ACTIONS[self._strategy]) for span in done]
        kept = max(0, cut - _CONTEXT_BYTES)
        self._buffer = self._buffer[kept:]
        self._let_out = cut - kept
        return released.decode("utf-8", "surrogatepass")

    def _cut(self, limit: int) -> int:
        """The last place up to the limit where a line or word ends, before a private key that is still open."""
        opened = self._buffer.rfind(b"-----BEGIN ", max(self._let_out, limit - _KEY_BYTES), limit)
        if opened >= 0 and self._buffer.find(b"-----END ", opened, limit) < 0:
            limit = opened
        for mark in _ENDS:
            at = self._buffer.rfind(mark, max(self._let_out, limit - HELD_BYTES), limit)
            if at >= 0:
                return at + 1
        while limit > self._let_out and self._buffer[limit] & 0xC0 == 0x80:  # within a character
            limit -= 1
        return limit
