"""Personal data, each one validated: e-mail, phone, US social security number, payment card, IP address, IBAN.

What Korean papers carry is told by `korean_data`.

Shape alone never decides where chance makes it: cards need a brand's prefix, length and Luhn digit, IBANs the country's
length and remainder, numbers without a telling shape need a telling word beside them.
"""

from collections.abc import Iterator

from satchel.filtering.sanitiser import korean_data
from satchel.filtering.sanitiser.checksums import IBAN_LENGTHS, card_lengths, digits_of, is_iban, is_luhn
from satchel.filtering.sanitiser.network_addresses import (
    FULL_IPV6_SHAPE,
    IPV4_SHAPE,
    VERSION_WORDS,
    full_ipv6,
    ipv4,
    short_ipv6,
)  # fmt: skip
from satchel.filtering.sanitiser.patterns import Match, compile_bytes, occurrences, union
from satchel.filtering.sanitiser.span import Span

_EMAIL_LOCAL = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&*+/=?^_{|}~.-" + bytes(
    range(0x80, 0x100)
)
_EMAIL_DOMAIN = compile_bytes(
    rb"\A(?:[A-Za-z0-9\x80-\xff](?:[A-Za-z0-9\x80-\xff-]{0,61}[A-Za-z0-9\x80-\xff])?\.){1,8}(?:[A-Za-z\x80-\xff]{2,24}|xn--[a-z0-9-]{2,30})"
)
_FILE_ENDINGS = frozenset(
    b"png jpg jpeg gif svg webp ico bmp css js mjs ts tsx jsx json py rb go rs java md txt html htm xml yml yaml so dll exe zip gz "
    b"tar whl woff woff2 map lock toml local localhost internal".split()
)

_PLUS_PHONE = compile_bytes(
    rb"\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d(?:[ .()-]{0,2}\d){5,13}(?:\s?(?:x|ext\.?)\s?\d{1,5})?"
)
_NANP_SHAPE = rb"(?:\b(?:00)?1[ .-])?(?:\((\d{3})\) ?|\b(\d{3})[ .-])(\d{3})[ .-]\d{4}(?:\s?(?:x|ext\.?)\s?\d{1,5})?"
_NANP_PHONE = compile_bytes(_NANP_SHAPE)
_PHONE_WORDS = (
    rb"phone|mobile|\btel\b|\bcell|\bfax\b|call(?:ed)? (?:me|us|him|her|them|back)|call|\bdesk\b|voicemail|whatsapp|\bsms\b|text me|\breach|"
    rb"registered|answering at|messages? to|\bcontact|hotline|number is|dial|\xec\xa0\x84\xed\x99\x94|\xed\x9c\xb4\xeb\x8c\x80|"
    + "핸드폰|연락처".encode()
    + rb"|t\xc3\xa9l|telefon|\xe7\x94\xb5\xe8\xaf\x9d"
)
_NUMBER = rb"[(+]?\d{1,12}(?:[ .()/-]{1,2}\d{1,12}){0,6}(?:\s?(?:x|ext\.?)\s?\d{1,5})?"
_SAID_PHONE = compile_bytes(
    rb"(?i)(?:" + _PHONE_WORDS + rb")[^\d\n(+]{0,24}\n?(" + _NUMBER + rb")|"
    rb"\b(" + _NUMBER + rb")[ -](?:office|fax|mobile|cell|home|work|desk|phone)\b"
)
_SSN_SHAPE = rb"\b(\d{3})-(\d{2})-(\d{4})\b"
_SSN = compile_bytes(_SSN_SHAPE)
_SAID_SSN = compile_bytes(
    rb"(?i)\b(?:ssn|social[ _-]?security(?:[ _-]?(?:number|no))?)\b[^\d\n]{0,16}(\d{3})[ .-]?(\d{2})[ .-]?(\d{4})\b"
)
_CARD_SHAPE = rb"\b\d(?:[ -]?\d){11,18}\b"
_CARD = compile_bytes(_CARD_SHAPE)
_CARD_WORDS = compile_bytes(
    rb"(?i)card|credit|debit|\bpan\b|\bcc\b|\bcvv|visa|master ?card|amex|maestro|payment|billed|charge"
)
_ID_WORDS = compile_bytes(
    rb"(?i)(?:order|tracking|invoice|ticket|#|(?:\b|_)id|seq|sku|ean|upc|isbn|imei|trace|account_?id|channel|user|tweet|snowflake|nonce|hash|timestamp|\bts)\W{0,4}\z"
)
_IBAN_SHAPE = rb"\b[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]{4}){2,7}(?:[ -]?[A-Za-z0-9]{1,4})?\b"
_IBAN = compile_bytes(_IBAN_SHAPE)
_MOBILE = compile_bytes(korean_data.MOBILE_SHAPE)
_RESIDENT_NUMBER = compile_bytes(korean_data.RESIDENT_NUMBER_SHAPE)


def is_cleared(rule: str, name: str) -> bool:
    """Whether a field of this name holds a version or an identifier, so that a find by this rule in it is none."""
    lead = name.encode("utf-8", "surrogatepass")[-64:] + b": "
    if rule == "ipv4":
        return VERSION_WORDS.search(lead) is not None
    return (
        rule in {"phone", "ssn", "credit_card", "kr_resident_number"}
        and _ID_WORDS.search(lead) is not None
        and _CARD_WORDS.search(lead) is None
    )


def find(data: bytes) -> Iterator[Span]:
    """Spans of personal data, in no particular order."""
    yield from _emails(data)
    yield from _numbers(data)
    yield from _said_phones(data)
    if b"ssn" in (lowered := data.lower()) or b"social" in lowered:
        yield from _said_social_security_numbers(data)
    yield from korean_data.find_named(data, lowered)
    yield from short_ipv6(data)


def _numbers(data: bytes) -> Iterator[Span]:
    """Everything that has a telling shape, in one pass; what fails its test is passed over by one character."""
    at = 0
    while (hit := _ANY_NUMBER.search(data, at)) is not None:
        start = hit.start()
        span = next((found for check in _CHECKS if (found := check(data, start)) is not None), None)
        if span is not None:
            yield span
        at = span.end if span is not None else _next_start(data, start)


def _next_start(data: bytes, start: int) -> int:
    """Where to look on: the next character, or near the end of a run of digits and joints longer than any number."""
    run = data[start : start + 400]
    length = len(run) - len(run.lstrip(b"0123456789.-: "))
    return start + (length - 50 if length > 100 else 1)


def _emails(data: bytes) -> Iterator[Span]:
    for at in occurrences(data, b"@"):
        head = data[max(0, at - 64) : at]
        local = head[len(head.rstrip(_EMAIL_LOCAL)) :]
        local = (
            local[max(local.rfind(mark) for mark in (b"/", b"=", b"?", b"&", b"|")) + 1 :].lstrip(b".")
            if local
            else local
        )
        domain = _EMAIL_DOMAIN.match(data[at + 1 : at + 256])
        if (
            local
            and local[-1:] != b"."
            and domain is not None
            and _is_email(data, at - len(local), at + 1 + domain.end(), domain.group())
        ):
            yield Span(at - len(local), at + 1 + domain.end(), "email", "pii")


def _is_email(data: bytes, start: int, end: int, domain: bytes) -> bool:
    if domain.rpartition(b".")[2].lower() in _FILE_ENDINGS:
        return False
    if data[end : end + 1] == b":" and data[end + 1 : end + 2] not in {b"", b" ", b"\n", b"\t", b"\r"}:  # git@host:path
        return False
    before = data[max(0, start - 300) : start]
    run = before[max(before.rfind(blank) for blank in (b" ", b"\n", b'"', b"'", b"<", b"(")) + 1 :]
    return not (b"://" in run and b"?" not in run)  # user information of a URL


def _international_phone(data: bytes, start: int) -> Span | None:
    match = _PLUS_PHONE.match(data, start)
    if match is None:
        return None
    digits = digits_of(match.group())
    good = 8 <= len(digits) <= 18 and digits[0] != "0" and _is_free(data, start, match.end())
    return Span(start, match.end(), "phone", "pii") if good else None


def _american_phone(data: bytes, start: int) -> Span | None:
    match = _NANP_PHONE.match(data, start)
    if match is None:
        return None
    area, exchange = match.group(1) or match.group(2), match.group(3)
    good = area[:1] >= b"2" and exchange[:1] >= b"2" and _is_free(data, start, match.end())
    return Span(start, match.end(), "phone", "pii") if good else None


def _korean_mobile(data: bytes, start: int) -> Span | None:
    match = _MOBILE.match(data, start)
    good = match is not None and _is_free(data, start, match.end()) and not _is_named_id(data, start, 16)
    return Span(start, match.end(), "phone", "pii") if match is not None and good else None


def _resident_number(data: bytes, start: int) -> Span | None:
    match = _RESIDENT_NUMBER.match(data, start)
    if match is None or not _is_free(data, start, match.end()) or _is_named_id(data, start, 16):
        return None
    good = korean_data.is_resident_number(data, start, match.end())
    return Span(start, match.end(), "kr_resident_number", "pii") if good else None


def _said_phones(data: bytes) -> Iterator[Span]:
    for match in _SAID_PHONE.finditer(data):
        group = 1 if match.groups()[0] is not None else 2
        if _is_said_phone(match.group(group)) and _is_free(data, match.start(group), match.end(group)):
            yield Span(match.start(group), match.end(group), "phone", "pii")


def _is_said_phone(text: bytes) -> bool:
    digits = digits_of(text.lower().partition(b"x")[0])
    if not 7 <= len(digits) <= 15 or len(set(digits)) < 3:
        return False
    groups = [
        group
        for group in text.replace(b"(", b" ").replace(b")", b" ").replace(b"-", b" ").replace(b".", b" ").split()
        if group
    ]
    is_date = (
        len(groups) >= 3
        and sorted(map(len, groups[:3])) == [2, 2, 4]
        and (groups[0][:2] in {b"19", b"20"} or groups[2][:2] in {b"19", b"20"})
    )
    is_decimal = len(groups) == 2 and b"." in text and min(map(len, groups)) < 3
    return not is_date and not is_decimal


def _is_free(data: bytes, start: int, end: int) -> bool:
    """Whether neither digit, letter, nor a joint to one touches the stretch."""
    before, after = data[max(0, start - 2) : start], data[end : end + 2]
    if before[-1:].isalnum() or after[:1].isalnum() or after[:1] == b"_" or before[-1:] == b"_":
        return False
    joints = b".-/:#$"
    if before[-1:] and before[-1:] in joints and before[:1].isalnum() and before[-1:] != b":":
        return False
    return not (after[:1] and after[:1] in b".-/:" and after[1:2].isdigit())


def _social_security_number(data: bytes, start: int) -> Span | None:
    match = _SSN.match(data, start)
    if match is None or not _is_ssn(match) or not _is_free(data, start, match.end()):
        return None
    return Span(start, match.end(), "ssn", "pii") if not _is_named_id(data, start, 16) else None


def _said_social_security_numbers(data: bytes) -> Iterator[Span]:
    for match in _SAID_SSN.finditer(data):
        if _is_ssn(match):
            yield Span(match.start(1), match.end(3), "ssn", "pii")


def _is_named_id(data: bytes, start: int, reach: int) -> bool:
    return _ID_WORDS.search(data[max(0, start - reach) : start]) is not None


def _is_ssn(match: Match) -> bool:
    area, group, serial = match.group(1), match.group(2), match.group(3)
    return area not in {b"000", b"666"} and area[:1] != b"9" and group != b"00" and serial != b"0000"


def _card(data: bytes, start: int) -> Span | None:
    match = _CARD.match(data, start)
    if match is None:
        return None
    digits = digits_of(match.group())
    lengths = card_lengths(digits)
    if lengths is None or len(digits) not in lengths or not is_luhn(digits) or len(set(digits)) == 1:
        return None
    end = match.end()
    if not _is_free(data, start, end):
        return None
    said = (
        _CARD_WORDS.search(data[max(0, start - 60) : start]) is not None
        or _CARD_WORDS.search(data[end : end + 24]) is not None
    )
    grouped = end - start > len(digits)
    if said or ((grouped or len(digits) in {15, 16}) and not _is_named_id(data, start, 60)):
        return Span(start, end, "credit_card", "pii")
    return None


def _iban(data: bytes, start: int) -> Span | None:
    match = _IBAN.match(data, start)
    if match is None:
        return None
    text = match.group().decode("latin-1")
    length = IBAN_LENGTHS.get(text[:2].upper(), 0)
    places = [index for index, char in enumerate(text) if char.isalnum()]
    if not length or len(places) < length:
        return None
    end = places[length - 1] + 1
    return (
        Span(start, start + end, "iban", "pii") if is_iban(text[:end]) and not text[end : end + 1].isalnum() else None
    )


_SHAPES = (
    rb"\+\d{1,3}[ .(-]?\d",
    _SSN_SHAPE,
    _CARD_SHAPE,
    _NANP_SHAPE,
    IPV4_SHAPE,
    FULL_IPV6_SHAPE,
    _IBAN_SHAPE,
    korean_data.RESIDENT_NUMBER_SHAPE,
    korean_data.MOBILE_SHAPE,
)
_ANY_NUMBER = compile_bytes(union(list(_SHAPES)))
_CHECKS = (
    *(_social_security_number, _resident_number, _card, _international_phone, _american_phone, _korean_mobile),
    *(ipv4, full_ipv6, _iban),
)
