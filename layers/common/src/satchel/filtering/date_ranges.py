"""Date ranges in a question: `since 2022-10-20`, `in December 2020`, `Q3 2024`, `last 7 days`.

Pure; "today" is an argument. Both ends are inclusive dates, None where open.
"""

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, cast

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_ISO = r"(?P<y>(?:19|20)\d\d)-(?P<m>\d\d?)-(?P<d>\d\d?)"
_LEAD = r"(?:(?P<lead>since|after|from|before|until|till|by|in|on|during|between|and|to|through)\s+)?"
_SPAN = re.compile(
    rf"\b{_LEAD}(?:{_ISO}|(?:(?P<day>\d\d?)(?:st|nd|rd|th)?\s+)?{_MONTH}\.?,?\s+(?P<my>(?:19|20)\d\d)"
    rf"|(?P<ym>(?:19|20)\d\d)-(?P<mm>\d\d)|q(?P<q>[1-4])\s+(?P<qy>(?:19|20)\d\d)|(?P<year>(?:19|20)\d\d))\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    r"\b(?:(?P<day>today|yesterday)|(?:in the |over the |the )?(?P<which>last|past|this)\s+"
    r"(?:(?P<n>\d{1,4})\s+)?(?P<unit>day|week|month|year)s?)\b",
    re.IGNORECASE,
)
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}


@dataclass(frozen=True, slots=True)
class DateRange:
    """A range of days, and where in the text it was said.

    Attributes:
        first: First day that belongs to it; None for "from the beginning".
        last: Last day that belongs to it; None for "until now".
        begin: Offset of the phrase.
        end: Offset just after it.
    """

    first: date | None
    last: date | None
    begin: int
    end: int


def _days(match: re.Match[str]) -> tuple[date, date] | None:
    try:
        return _named_days(match.groupdict())
    except ValueError:
        return None  # such as 2023-02-30


_DIGIT = re.compile(r"\d")


def _named_days(group: dict[str, str | None]) -> tuple[date, date] | None:
    year = int(group["y"] or group["my"] or group["ym"] or group["qy"] or group["year"] or 0)
    if group["year"]:
        # A bare year is as likely a number.
        return (date(year, 1, 1), date(year, 12, 31)) if group["lead"] else None
    if group["q"]:
        return _months(year, 3 * int(group["q"]) - 2, 3 * int(group["q"]))
    month = int(group["m"] or group["mm"] or 0) or _MONTHS[(group["month"] or "")[:3].lower()]
    day = group["d"] or group["day"]
    if day:
        return date(year, month, int(day)), date(year, month, int(day))
    return _months(year, month, month)


def _months(year: int, first: int, last: int) -> tuple[date, date]:
    return date(year, first, 1), date(year, last, monthrange(year, last)[1])


def _absolute(text: str) -> Iterator[DateRange]:
    pending: DateRange | None = None  # "between A": waits for "and B"
    for match in _SPAN.finditer(text):
        days = _days(match)
        if days is None:
            continue
        lead = (match["lead"] or "").lower()
        if pending is not None and lead in ("and", "to", "until", "through", "till"):
            yield DateRange(pending.first, days[1], pending.begin, match.end())
            pending = None
            continue
        if pending is not None:
            yield pending
            pending = None
        if lead in ("between", "from"):
            pending = DateRange(days[0], None, match.start(), match.end())
        elif lead in ("since", "after"):
            first = days[1] + timedelta(days=1) if lead == "after" else days[0]
            yield DateRange(first, None, match.start(), match.end())
        elif lead in ("before", "until", "till", "by"):
            last = days[0] - timedelta(days=1) if lead == "before" else days[1]
            yield DateRange(None, last, match.start(), match.end())
        else:
            yield DateRange(days[0], days[1], match.start(), match.end())
    if pending is not None:
        yield pending


def _relative(text: str, today: date) -> Iterator[DateRange]:
    for match in _RELATIVE.finditer(text):
        if match["day"]:
            day = today if match["day"].lower() == "today" else today - timedelta(days=1)
            yield DateRange(day, day, match.start(), match.end())
        else:
            days = _UNIT_DAYS[match["unit"].lower()] * int(match["n"] or 1)
            yield DateRange(today - timedelta(days=min(days, 36_500)), today, match.start(), match.end())


def find(text: str, today: date | None) -> list[DateRange]:
    """The ranges said in `text`, in reading order; relative ones only where `today` is given."""
    found = list(_absolute(text)) if _DIGIT.search(text) else []  # each of them has a year
    if today is not None:
        found += _relative(text, today)
    return sorted(found, key=lambda span: span.begin)


def from_filter(value: Any) -> list[DateRange]:
    """The range of a `date_range` filter `[first, last]`; empty where it is not one."""
    if not isinstance(value, list | tuple) or len(cast("list[Any]", value)) != len(("first", "last")):
        return []
    days: list[date | None] = []
    for day in cast("list[Any]", value):
        try:
            days.append(date.fromisoformat(day[:10]) if isinstance(day, str) else None)
        except ValueError:
            return []
    return [DateRange(days[0], days[1], 0, 0)] if any(days) else []
