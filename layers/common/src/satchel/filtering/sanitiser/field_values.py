"""What the name of a field makes of its value, where both are known: `{"pin": 4417}`, `{"Cookie": "sid=…"}`."""

from satchel.filtering.sanitiser import korean_data, values, wire_formats
from satchel.filtering.sanitiser.checksums import digits_of, is_luhn
from satchel.filtering.sanitiser.names import Kind
from satchel.filtering.sanitiser.span import Span, assigned
from satchel.filtering.sanitiser.values import Standing

_PERSONAL = {
    Kind.SSN: "ssn",
    Kind.PHONE: "phone",
    Kind.CARD: "credit_card",
    Kind.RESIDENT_NUMBER: "kr_resident_number",
    Kind.BANK_ACCOUNT: "bank_account",
    Kind.PASSPORT: "passport",
}


def find(value: bytes, kind: Kind, *, pii: bool) -> list[Span]:
    """Spans over the UTF-8 bytes of a field's value."""
    if kind in _PERSONAL:
        return [Span(0, len(value), _PERSONAL[kind], "pii")] if pii and _is_personal(value, kind) else []
    if kind in {Kind.AUTHORIZATION, Kind.COOKIE}:
        header = b"authorization: " if kind is Kind.AUTHORIZATION else b"cookie: "
        return [
            span._replace(start=max(0, span.start - len(header)), end=span.end - len(header))
            for span in wire_formats.find_headers(header + value)
            if span.end > len(header)
        ]
    text = value.decode("utf-8", "replace")
    scheme, blank, rest = text.partition(" ")
    start = 0
    if blank and rest.strip() and scheme.lower() in {"bearer", "basic", "token", "apikey", "bot"}:
        start, text = len(scheme.encode()) + 1, rest
    if not values.is_credential(text, kind, Standing.EXACT):
        return []
    return [assigned(start, len(value), kind)]


def _is_personal(value: bytes, kind: Kind) -> bool:
    if kind is Kind.PASSPORT:
        return korean_data.is_passport(value)
    digits = digits_of(value)
    if any(byte not in b"0123456789 +-().x/" for byte in value):
        return False
    if kind is Kind.RESIDENT_NUMBER:
        return korean_data.is_resident_date(digits)
    if kind is Kind.BANK_ACCOUNT:
        return korean_data.is_account(value)
    if kind is Kind.SSN:
        return len(digits) == 9 and digits[0] != "9"
    if kind is Kind.CARD:
        return 12 <= len(digits) <= 19 and is_luhn(digits)
    return 7 <= len(digits) <= 15 and len(set(digits)) > 2
