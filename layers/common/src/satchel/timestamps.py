"""Time stamps as callers write them, read into aware UTC datetimes and written back one way.

Accepted: ISO-8601 (a naive one means UTC, so that no answer depends on the host's zone) and epoch
seconds or milliseconds as a number or as digits. Written: ISO-8601 ending in `Z`.
"""

import math
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation

from satchel.errors import InvalidInputError

# An epoch of at least this is milliseconds: as seconds it would be the year 5138, as milliseconds it is 1973.
_FIRST_EPOCH_MS = 100_000_000_000
_EPOCH_TEXT = re.compile(r"[+-]?\d{1,18}(\.\d{1,9})?", re.ASCII)
_LEAP_SECOND = re.compile(
    r"^(\d{4}-?\d{2}-?\d{2}[Tt ]\d{2}:?\d{2}:?)60((?:[.,]\d+)?(?:[Zz]|[+-]\d{2}(?::?\d{2})?)?)$", re.ASCII
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_timestamp(value: object, *, field: str) -> datetime:
    """The instant that `value` names, in UTC.

    A leap second (`23:59:60`) is the first instant of the next minute, as PostgreSQL reads it.

    Args:
        value: A string, int or float as described in this module.
        field: Path of the input, for the error.

    Raises:
        InvalidInputError: It is none of these, or lies outside the years 1 to 9999.
    """
    try:
        return _read(value)
    except (TypeError, ValueError, OverflowError, InvalidOperation) as error:
        raise InvalidInputError(
            f"{field} must be an ISO-8601 time stamp or epoch seconds or milliseconds", field=field
        ) from error


def parse_iso_timestamp(text: str) -> datetime:
    """The instant of an ISO-8601 text, in UTC; naive means UTC.

    Raises:
        ValueError: The text is not ISO-8601.
        OverflowError: The instant lies outside the years 1 to 9999.
    """
    leap = _LEAP_SECOND.match(text)
    moment = datetime.fromisoformat(f"{leap[1]}59{leap[2]}" if leap else text)
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.replace(microsecond=0) + timedelta(seconds=1) if leap else moment


def format_timestamp(moment: datetime) -> str:
    """`moment` as ISO-8601 in UTC, ending in `Z`, with a fraction only where there is one."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _read(value: object) -> datetime:
    if isinstance(value, str):
        text = value.strip()
        return _from_epoch(Decimal(text)) if _EPOCH_TEXT.fullmatch(text) else parse_iso_timestamp(text)
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return _from_epoch(value)
    raise TypeError


def _from_epoch(number: float | Decimal) -> datetime:
    if not math.isfinite(number):
        raise ValueError
    exact = Decimal(str(number))
    seconds = exact / 1000 if abs(exact) >= _FIRST_EPOCH_MS else exact
    return _EPOCH + timedelta(microseconds=int(seconds * 1_000_000))
