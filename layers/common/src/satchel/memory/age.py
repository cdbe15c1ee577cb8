"""How long ago something was, in words."""

from datetime import datetime

_MINUTE_S = 60
# The largest unit that fits is named, with the length of a mean month and year (Gregorian calendar).
_UNITS = (
    (31_556_952, "year"),
    (2_629_746, "month"),
    (604_800, "week"),
    (86_400, "day"),
    (3_600, "hour"),
    (_MINUTE_S, "minute"),
)


def age_in_words(moment: datetime, now: datetime) -> str:
    """The time from `moment` to `now` as `2 weeks ago`; `just now` under a minute, `in the future` after `now`."""
    seconds = (now - moment).total_seconds()
    if seconds <= -_MINUTE_S:
        return "in the future"
    for unit_s, name in _UNITS:
        count = int(seconds // unit_s)
        if count >= 1:
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"
