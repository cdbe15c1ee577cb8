"""IP addresses that belong to somebody: no version, no file name, no network's own number."""

from collections.abc import Iterator

from satchel.filtering.sanitiser.patterns import Match, compile_bytes, occurrences
from satchel.filtering.sanitiser.span import Span

IPV4_SHAPE = rb"\b(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\b"
_IPV4 = compile_bytes(IPV4_SHAPE)
VERSION_WORDS = compile_bytes(
    rb"(?i)(?:version|versions|\bver|\brelease|build|firmware|\bv|\.net|jdk|runtime|upgraded? (?:to|from)|driver|sdk|==|>=|<=|~=|\^|@)[\"']?\W{0,4}(?:is |to )?\z"
)
FULL_IPV6_SHAPE = rb"\b(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}\b"
_FULL_IPV6 = compile_bytes(FULL_IPV6_SHAPE)
_IPV6_BYTES = b"0123456789abcdefABCDEF:"


def ipv4(data: bytes, start: int) -> Span | None:
    """The IPv4 address at `start`; None where there is none."""
    match = _IPV4.match(data, start)
    if match is None or not _is_someones(match) or not _is_address(data, start, match.end()):
        return None
    return Span(start, match.end(), "ipv4", "pii")


def full_ipv6(data: bytes, start: int) -> Span | None:
    """The IPv6 address of eight groups at `start`; None where there is none."""
    match = _FULL_IPV6.match(data, start)
    good = match is not None and is_ipv6(match.group()) and data[match.end() : match.end() + 1] != b":"
    return Span(start, match.end(), "ipv6", "pii") if match is not None and good else None


def short_ipv6(data: bytes) -> Iterator[Span]:
    """IPv6 addresses with `::`."""
    for at in occurrences(data, b"::"):
        head, tail = data[max(0, at - 40) : at], data[at : at + 40]
        start = at - (len(head) - len(head.rstrip(_IPV6_BYTES)))
        end = at + len(tail) - len(tail.lstrip(_IPV6_BYTES))
        if is_ipv6(data[start:end]) and not data[start - 1 : start].isalnum() and not data[end : end + 1].isalnum():
            yield Span(start, end, "ipv6", "pii")


def _is_someones(match: Match) -> bool:
    written = [match.group(index) for index in range(1, 5)]
    octets = [int(part) for part in written]
    if max(octets) > 255 or any(len(part) > 1 and part[:1] == b"0" for part in written):
        return False
    if octets[0] in {0, 127, 255} or octets[0] >= 224 or octets[3] in {0, 255}:  # nobody's address
        return False
    return not (octets[3] == 1 and octets[0] in {10, 192, 172})  # a gateway


def _is_address(data: bytes, start: int, end: int) -> bool:
    before, after = data[max(0, start - 24) : start], data[end : end + 2]
    if before[-1:] in {b".", b"-", b"_", b"/"} and before[-3:] != b"://" and before[-2:-1].isalnum():
        return False
    if (
        after[:1] in {b"-", b"_"}
        or (after[:1] == b"." and after[1:].isalnum())
        or (after[:1] == b"/" and after[1:].isdigit())
    ):
        return False
    return VERSION_WORDS.search(before) is None or before[-1:] == b"@"


def is_ipv6(raw: bytes) -> bool:
    """Whether the text is an IPv6 address that belongs to somebody."""
    text = raw.decode("latin-1").lower()
    if text.count("::") > 1 or ":::" in text or text.count(":") < 2 or text in {"::", "::1"}:
        return False
    groups = text.split(":")
    written = [group for group in groups if group]
    if any(len(group) > 4 for group in written) or "." in text:
        return False
    if "::" in text:
        # Short ones are times, ratios and C++ names as often as addresses.
        return len(written) <= 7 and len(written) >= 2 and max(map(len, written)) >= 3 and text[0] != ":"
    return len(written) == 8 == len(groups) and max(map(len, written)) >= 3
