"""Credentials behind one layer of encoding: base64 and percent signs.

What decodes to text is searched like text. A base64 stretch with a find in it goes as a whole, since cutting it would
break it; of percent-encoded text only the stretch that spells the find goes.
"""

import base64
import binascii
from collections.abc import Callable, Iterator
from urllib.parse import unquote_to_bytes

from satchel.filtering.sanitiser.patterns import compile_bytes
from satchel.filtering.sanitiser.span import Span

Search = Callable[[bytes], list[Span]]

# A run whose first 18 bytes are printable once decoded: each fourth of its letters then starts a byte below 128.
_BASE64 = compile_bytes(rb"(?:\A|[^A-Za-z0-9+/_-])((?:[CDI-Za-f][A-Za-z0-9+/_-]{3}){6}[A-Za-z0-9+/_-]*={0,2})")
_PERCENT = compile_bytes(rb"[\w.~+&=:/?#@!$*,;%-]*%[0-9A-Fa-f]{2}[\w.~+&=:/?#@!$*,;%-]{1,}")
_PRINTABLE = frozenset(range(32, 127)) | {9, 10, 13}
_PROBE = 24


def find(data: bytes, search: Search) -> Iterator[Span]:
    """Spans of encoded stretches in which `search` finds a secret once they are decoded."""
    for match in _BASE64.finditer(data):
        text = _as_text(match.group(1))
        if text is not None and any(span.finding_class == "secret" for span in search(text)):
            yield Span(match.start(1), match.end(1), "base64-encoded-secret", "secret", shows_tail=False)
    if b"%" in data:
        for match in _PERCENT.finditer(data):
            yield from _percent(match.group(), match.start(), search)


def _as_text(encoded: bytes) -> bytes | None:
    """The decoded text of a base64 stretch, None where it is not text."""
    standard = encoded.rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
    try:
        probe = base64.b64decode(standard[:_PROBE])
        if not _PRINTABLE.issuperset(probe):
            return None
        decoded = base64.b64decode(standard + b"=" * (-len(standard) % 4))
    except (binascii.Error, ValueError):
        return None
    return decoded if _PRINTABLE.issuperset(decoded) or (_is_utf8(decoded) and decoded.decode().isprintable()) else None


def _is_utf8(decoded: bytes) -> bool:
    try:
        decoded.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _percent(encoded: bytes, start: int, search: Search) -> Iterator[Span]:
    decoded = unquote_to_bytes(encoded)
    spans = search(decoded) if _is_utf8(decoded) else []
    if not spans:
        return
    origin: list[int] = []
    at = 0
    while at < len(encoded):
        origin.append(at)
        is_escape = encoded[at] == 37 and unquote_to_bytes(encoded[at : at + 3]) != encoded[at : at + 3]
        at += 3 if is_escape else 1
    origin.append(len(encoded))
    for span in spans:
        yield span._replace(start=start + origin[span.start], end=start + origin[span.end])
