"""Private keys: PEM in every wrapping, PuTTY, OpenVPN, JWK, XML."""

import base64
from collections.abc import Iterator

from satchel.filtering.sanitiser import values
from satchel.filtering.sanitiser.patterns import compile_bytes, occurrences
from satchel.filtering.sanitiser.span import Span

_BEGIN = compile_bytes(rb"-{4,5} ?BEGIN (?:(?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V\d) ?-{4,5}")
_END = compile_bytes(rb"-{4,5} ?END (?:(?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V\d) ?-{4,5}")
# What a key that was cut off consists of: base64, headers, and what quotes, comments or string literals put around lines.
_BODY = compile_bytes(
    rb"\A(?:(?:\r?\n|\\n)[ \t]*(?:>|//|#|\*)|(?:\r?\n|\\n)[ \t]*[A-Za-z-]{2,20}: [^\r\n\\]{0,100}|"
    rb"[\"'],?[ \t]*[+,.]?[ \t]*\n[ \t]*[\"']|[A-Za-z0-9+/=\s]|\\+[nrt])*"
)
_ENCODED = compile_bytes(rb"LS0tLS1CRUdJTi[A-Za-z0-9+/\s\\]{40,}={0,2}")
_PUTTY = compile_bytes(rb"Private-Lines: \d+\s+((?:[A-Za-z0-9+/=]{4,}\s+){1,100})")
_LIMIT = 65_536
_LEAST_BYTES = 24
_JWK_PART = compile_bytes(rb"\\*\"(?:d|p|q|dp|dq|qi|k)\\*\"\s*:\s*\\*\"([\w-]{16,})\\*\"")
_JWK_LIMIT = 4_000
_XML_PART = compile_bytes(rb"<(?:D|P|Q|DP|DQ|InverseQ)>\s*([A-Za-z0-9+/=\s]{16,})</")


def at_opening(data: bytes, at: int) -> Iterator[Span]:
    """The key whose opening line begins at `at`, as far as it goes: to its closing line, or to where it was cut off."""
    match = _BEGIN.match(data, at, at + 100)
    if match is None:
        return
    start = match.end()
    # A key inside a text ends within it: texts of one value are kept apart by a NUL.
    limit = data.find(b"\x00", start, start + _LIMIT)
    limit = limit if limit >= 0 else min(len(data), start + _LIMIT)
    closing = _END.search(data, start, limit)
    another = _BEGIN.search(data, start, limit)
    if closing is not None and (another is None or another.start() > closing.start()):
        end, body = closing.end(), data[start : closing.start()]
    else:
        inner = _BODY.match(data[start:limit])
        end = start + (inner.end() if inner is not None else 0)
        body = data[start:end]
    if sum(byte not in b" \r\n\t\\\"'+>/#*,." for byte in body[:600]) >= _LEAST_BYTES:
        yield Span(at, end, "private-key", "secret", shows_tail=False)


def packed(data: bytes, at: int) -> Iterator[Span]:
    """The key that begins at `at` without an opening line of its own: PuTTY's lines, or PEM in base64."""
    match = _PUTTY.match(data, at, at + _LIMIT)
    if match is not None:
        yield Span(match.start(1), match.end(1), "private-key", "secret", shows_tail=False)
        return
    match = _ENCODED.match(data, at, at + _LIMIT)
    if match is not None:
        head = match.group().replace(b"\\n", b"").replace(b"\n", b"")[:64]
        if b"PRIVATE KEY" in base64.b64decode(head[: len(head) // 4 * 4]):
            yield Span(at, match.end(), "private-key", "secret", shows_tail=False)


def in_structures(data: bytes) -> Iterator[Span]:
    """Private parts of JSON Web Keys and of .NET's XML keys in a text."""
    for at in occurrences(data, b'"kty'):
        yield from _jwk(data, at)
    for at in occurrences(data, b"<RSAKeyValue>"):
        end = data.find(b"</RSAKeyValue>", at, at + _LIMIT)
        for match in _XML_PART.finditer(data, at, end if end >= 0 else at + _JWK_LIMIT):
            yield Span(match.start(1), match.end(1), "private-key", "secret", shows_tail=False)


def _jwk(data: bytes, at: int) -> Iterator[Span]:
    start = data.rfind(b"{", max(0, at - _JWK_LIMIT), at)
    end = data.find(b"}", at, at + _JWK_LIMIT)
    for match in _JWK_PART.finditer(data, max(0, start), end if end >= 0 else min(len(data), at + _JWK_LIMIT)):
        if not values.is_placeholder(match.group(1).decode("latin-1")):
            yield Span(match.start(1), match.end(1), "private-key", "secret", shows_tail=False)
