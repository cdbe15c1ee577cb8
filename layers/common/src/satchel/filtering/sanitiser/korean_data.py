"""Personal data as it is written in Korea: resident number, mobile phone, bank account, passport.

A resident number counts by itself where its date and its check digit hold, and near its own name where its date
holds: numbers given out since October 2020 have no check digit. A mobile number counts in groups; without them it
takes a word beside it, like any phone number. Accounts and passports count beside their names only.
"""

from collections.abc import Iterator
from datetime import date

from satchel.filtering.sanitiser.checksums import digits_of
from satchel.filtering.sanitiser.patterns import compile_bytes
from satchel.filtering.sanitiser.span import Span

RESIDENT_NUMBER_SHAPE = rb"\b\d{6}-[1-8]\d{6}\b"
MOBILE_SHAPE = rb"\b01[016789][-. ]\d{3,4}[-. ]\d{4}\b"

_RESIDENT_NAMES = "(?:주민 ?(?:등록)? ?번호|외국인 ?등록 ?번호|주민등록|(?i:\\brrn\\b|resident[ _-]?(?:registration[ _-]?)?(?:number|no)\\b))"
_RESIDENT_NAME = compile_bytes(_RESIDENT_NAMES.encode())
# Between a name and its value: a particle, a mark, quotes, a few words; no other number.
_BETWEEN = rb"[^\d\n\x00]{0,24}"
_SAID_RESIDENT_NUMBER = compile_bytes(_RESIDENT_NAMES.encode() + _BETWEEN + rb"\b(\d{6} ?-? ?[1-8]\d{6})\b")
_SAID_ACCOUNT = compile_bytes("계좌(?: ?번호)?".encode() + rb"[^\d\n\x00]{0,40}(\d{1,16}(?:-\d{1,12}){0,4})\b")
_SAID_PASSPORT = compile_bytes(
    "(?:여권(?: ?번호)?|(?i:\\bpassport[ _-]?(?:number|no)\\b))".encode()
    + rb"[^\d\n\x00A-Z]{0,24}\b([A-Za-z]{1,2}\d{7,8}|[A-Za-z]\d{3}[A-Za-z]\d{4})\b"
)
_PASSPORT = compile_bytes(rb"[A-Za-z]{1,2}\d{7,8}|[A-Za-z]\d{3}[A-Za-z]\d{4}")
# One of these stands wherever one of the names does; looking for them costs nearly nothing.
_RESIDENT_HINTS = ("주민".encode(), "외국인".encode(), b"rrn", b"resident")
_ACCOUNT_HINT = "계좌".encode()
_PASSPORT_HINTS = ("여권".encode(), b"passport")
_NAME_REACH_BYTES = 512  # what a stream keeps of what went before
_ACCOUNT_DIGITS = range(10, 17)
_WEIGHTS = (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)
_FOREIGNER = "5678"


def find_named(data: bytes, lowered: bytes) -> Iterator[Span]:
    """Spans that a name beside them tells about, in no particular order; `lowered` is `data` in lower case."""
    if any(hint in lowered for hint in _RESIDENT_HINTS):
        for match in _SAID_RESIDENT_NUMBER.finditer(data):
            if is_resident_date(digits_of(match.group(1))):
                yield Span(match.start(1), match.end(1), "kr_resident_number", "pii")
    if _ACCOUNT_HINT in lowered:
        for match in _SAID_ACCOUNT.finditer(data):
            if is_account(match.group(1)):
                yield Span(match.start(1), match.end(1), "bank_account", "pii")
    if any(hint in lowered for hint in _PASSPORT_HINTS):
        for match in _SAID_PASSPORT.finditer(data):
            yield Span(match.start(1), match.end(1), "passport", "pii")


def is_resident_number(data: bytes, start: int, end: int) -> bool:
    """Whether the stretch, of the resident number's shape, is one: by its check digit, or a name in the text before."""
    digits = digits_of(data[start:end])
    if not is_resident_date(digits):
        return False
    before = data[max(0, start - _NAME_REACH_BYTES) : start].rpartition(b"\x00")[2]
    return _has_check_digit(digits) or _RESIDENT_NAME.search(before) is not None


def is_resident_date(digits: str) -> bool:
    """Whether 13 digits begin with a day of the century that the seventh tells: year, month, day."""
    if len(digits) != 13 or digits[6] not in "12345678":
        return False
    century = 1900 if digits[6] in "1256" else 2000
    try:
        date(century + int(digits[:2]), int(digits[2:4]), int(digits[4:6]))
    except ValueError:
        return False
    return True


def is_account(value: bytes) -> bool:
    """Whether the text has as many digits as accounts of Korean banks have, 10 to 16, grouped or not."""
    return len(digits_of(value)) in _ACCOUNT_DIGITS


def is_passport(value: bytes) -> bool:
    """Whether the text has the form of a passport's number: `M12345678`, or `M123A4567` since 2021."""
    return _PASSPORT.fullmatch(value) is not None


def _has_check_digit(digits: str) -> bool:
    """Whether the last digit checks the others, as numbers given out until October 2020 have it."""
    total = sum(weight * int(digit) for weight, digit in zip(_WEIGHTS, digits, strict=False))
    return ((13 if digits[6] in _FOREIGNER else 11) - total % 11) % 10 == int(digits[12])
