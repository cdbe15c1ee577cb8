"""Days that a text names, in English, Korean, Chinese, Japanese and ISO form, relative to the asker's own day. Pure."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_NUMBERS = {
    **{
        word: n
        for n, word in enumerate(
            ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 1
        )
    },
    "a": 1,
    "an": 1,
    "couple": 2,
    "a couple of": 2,
    **{word: n for n, word in enumerate(["하루", "이틀", "사흘", "나흘"], 1)},
    **{word: n for n, word in enumerate(["한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열"], 1)},
    **{word: n for n, word in enumerate(["一", "二", "三", "四", "五", "六", "七", "八", "九", "十"], 1)},
    "两": 2,
}

_MONTH = "(?P<month>" + "|".join(f"{name}|{name[:3]}" for name in _MONTHS if name != "may") + "|may|sept)\\.?"
_WEEKDAY_EN = "(?P<weekday>" + "|".join(_WEEKDAYS) + ")"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_COUNT_EN = r"(?P<count>\d{1,3}|a couple of|" + "|".join(n for n in _NUMBERS if n.isascii() and " " not in n) + ")"


@dataclass(frozen=True, slots=True)
class NamedDays:
    """Days that a text means: a range, or a day or month of any year.

    Attributes:
        first: First day of the range; None where the year is left open.
        last: Last day of it, inclusive.
        month: Of any year, where `first` is None.
        day: Of that month; None is all of it.
    """

    first: date | None = None
    last: date | None = None
    month: int | None = None
    day: int | None = None

    def nearness(self, day: date) -> float:
        """Return how well something said on a day fits: 1 on the days meant, falling to 0 within the week after.

        People tell of a day on that day or soon after it, not before.
        """
        if self.first is None or self.last is None:
            return self._nearness_in_any_year(day)
        if self.first <= day <= self.last:
            return 1.0
        late = (day - self.last).days
        return max(0.0, AFTERMATH - AFTERMATH * late / AFTERMATH_DAYS) if late > 0 else 0.0

    def spans(self, *, today: date) -> list[tuple[date, date]]:
        """Return the days meant as [first, after the last); where the year is open, those of this year and the last."""
        if self.first is not None and self.last is not None:
            return [(self.first, min(self.last, _LAST_BUT_ONE) + timedelta(days=1))]
        assert self.month is not None
        years = (today.year, today.year - 1)
        meant = [_days(y, self.month, self.day) if self.day else _month(y, self.month) for y in years]
        return [span for named in meant if named for span in named.spans(today=today)]

    def is_ahead(self, today: date) -> bool:
        """Whether the days meant have not begun yet; where the year is open, those of this year."""
        if self.first is not None:
            return self.first > today
        assert self.month is not None
        meant = _days(today.year, self.month, self.day or 1)
        return meant is not None and meant.is_ahead(today)

    def _nearness_in_any_year(self, day: date) -> float:
        assert self.month is not None
        if self.day is None:
            return 1.0 if day.month == self.month else 0.0
        years = [_days(year, self.month, self.day) for year in (day.year, day.year - 1)]
        return max((named.nearness(day) for named in years if named), default=0.0)


AFTERMATH = 0.4
AFTERMATH_DAYS = 7

MAX_DAYS = 5
"""Days of one text that count: nobody asks for more, and each is looked up by itself."""

_LAST_BUT_ONE = date.max - timedelta(days=1)
# Letters that a pattern takes for another one when case is ignored, and no table of names does.
_PLAIN = {0x131: "i", 0x130: "I", 0x17F: "s", 0x212A: "K"}


def named_days(text: str, *, today: date, began: date | None = None) -> tuple[list[NamedDays], str]:
    """Return the first few days that a text names, each once, and the text with their words blanked out.

    No two days come from the same words: rules that say more go first.

    Args:
        text: In the form of `terms.normalize`.
        today: The asker's day, in the asker's time zone.
        began: The day of the first message of all, which "our first conversation" means.

    Returns:
        The days in the order of the rules, and a text of the same length.
    """
    rest = text.translate(_PLAIN)
    found: list[NamedDays] = []
    if began is not None and (first := _FIRST.search(rest)):
        found.append(NamedDays(began, began))
        rest = rest[: first.start()] + " " * (first.end() - first.start()) + rest[first.end() :]
    for pattern, read in _RULES:
        for match in pattern.finditer(rest):
            named = read(match, today)
            if named is not None:
                found.append(named)
                rest = rest[: match.start()] + " " * (match.end() - match.start()) + rest[match.end() :]
    return list(dict.fromkeys(found))[:MAX_DAYS], rest


def _days(year: int, month: int, day: int) -> NamedDays | None:
    try:
        only = date(year, month, day)
    except ValueError:
        return None
    return NamedDays(only, only)


def _month(year: int, month: int) -> NamedDays | None:
    if not 1 <= month <= 12:  # noqa: PLR2004 - months
        return None
    following = date(year + month // 12, month % 12 + 1, 1)
    return NamedDays(date(year, month, 1), following - timedelta(days=1))


def _span(today: date, first: int, last: int) -> NamedDays:
    return NamedDays(today + timedelta(days=first), today + timedelta(days=last))


def _calendar(match: re.Match[str], _today: date) -> NamedDays | None:
    """Read a match with month and perhaps year and day, as words or digits."""
    parts = match.groupdict()
    month = int(parts["month"]) if parts["month"].isdigit() else 1 + _month_index(parts["month"].lower())
    day = int(parts["day"]) if parts.get("day") else None
    if parts.get("year"):
        year = int(parts["year"])
        return _month(year, month) if day is None else _days(year, month, day)
    if _days(2000, month, day or 1) is None:
        return None
    return NamedDays(month=month, day=day)


def _month_index(name: str) -> int:
    return next(index for index, month in enumerate(_MONTHS) if month.startswith(name[:3]))


def _fixed(first: int, last: int) -> Callable[[re.Match[str], date], NamedDays]:
    return lambda _match, today: _span(today, first, last)


def _ago(days: int, slack: int) -> Callable[[re.Match[str], date], NamedDays | None]:
    def read(match: re.Match[str], today: date) -> NamedDays | None:
        text = match["count"].lower()
        back = days * (int(text) if text.isdigit() else _NUMBERS[text])
        return _span(today, -back - slack, -back + slack) if back + slack < today.toordinal() else None

    return read


def _week(weeks_back: int) -> Callable[[re.Match[str], date], NamedDays]:
    def read(_match: re.Match[str], today: date) -> NamedDays:
        monday = -today.weekday() - 7 * weeks_back
        return _span(today, monday, monday + 6)

    return read


def _months_back(months: int) -> Callable[[re.Match[str], date], NamedDays | None]:
    def read(_match: re.Match[str], today: date) -> NamedDays | None:
        at = today.year * 12 + today.month - 1 - months
        return _month(at // 12, at % 12 + 1)

    return read


def _years_back(years: int) -> Callable[[re.Match[str], date], NamedDays]:
    return lambda _match, today: NamedDays(date(today.year - years, 1, 1), date(today.year - years, 12, 31))


def _weekday(letters: str) -> Callable[[re.Match[str], date], NamedDays]:
    """Read a week day: the latest one before today; with a word for "last week", that of the week before."""

    def read(match: re.Match[str], today: date) -> NamedDays:
        name = match["weekday"].lower()
        index = _WEEKDAYS.index(name) if name in _WEEKDAYS else letters.index(name)
        if match.groupdict().get("week"):
            return _span(today, *[index - today.weekday() - 7] * 2)
        back = (today.weekday() - index) % 7 or 7
        return _span(today, -back, -back)

    return read


def _year(match: re.Match[str], _today: date) -> NamedDays:
    return NamedDays(date(int(match["year"]), 1, 1), date(int(match["year"]), 12, 31))


_COUNT_KO = r"(?P<count>\d{1,3}|" + "|".join(n for n in _NUMBERS if "\uac00" <= n[0] <= "\ud7a3") + ")"
_COUNT_ZH = r"(?P<count>\d{1,3}|[一二三四五六七八九十两])"

# The first conversation of all, and what was said first in it. One *with* or *about* something is an event of its own.
_FIRST = re.compile(
    r"(?:\b(?:during|in|at) )?\b(?:our (?:very )?first (?:ever )?(?:conversation|chat|session|talk)"
    r"|the (?:very )?first (?:conversation|chat)|when we first (?:talked|spoke|chatted|met)"
    r"|(?:the )?first time (?:that )?we (?:ever )?(?:talked|spoke|chatted|met)"
    r"|(?:very )?first (?:message|thing) (?:that )?i (?:ever )?(?:sent|said|wrote|told|asked)(?: to)?(?: you)?)\b"
    r"(?! (?:with|about|of|on|at|in|to|regarding)\b)"
    r"|(?:우리\s?)?(?:첫|처음)\s?(?:번째\s?)?(?:대화|채팅)(?:\s?때|에서|에)?"
    r"|(?:우리\s?)?처음\s?(?:나눈\s?(?:대화|이야기|얘기)|(?:대화|채팅|이야기|얘기)(?:했을|한|할)\s?때)|처음에(?=\s?(?:우리|무슨|뭐|어떤))"
    r"|(?:我们|我們)?第一次(?:的)?(?:对话|對話|聊天|谈话|談話|交谈|交談)(?:的?时候|的?時候|时|時)?|最初の(?:会話|チャット)",
    re.IGNORECASE,
)

# (pattern, reader); a rule sees only what the rules before it left.
_RULES: list[tuple[re.Pattern[str], Callable[[re.Match[str], date], NamedDays | None]]] = [
    (re.compile(pattern, re.IGNORECASE), read)
    for pattern, read in [
        (rf"\b{_YEAR}[-/.](?P<month>0?[1-9]|1[0-2])[-/.]{_DAY}\b", _calendar),
        (rf"{_YEAR}\s*[年년]\s*(?P<month>1[0-2]|0?[1-9])\s*[月월]\s*{_DAY}\s*[日号號일]", _calendar),
        (r"(?<!\d)(?P<month>1[0-2]|0?[1-9])\s*[月월]\s*(?P<day>[12]\d|3[01]|0?[1-9])\s*[日号號일]", _calendar),
        (rf"{_YEAR}\s*[年년]\s*(?P<month>1[0-2]|0?[1-9])\s*[月월]", _calendar),
        (rf"\b{_MONTH}\s+{_DAY}(?:st|nd|rd|th)?,?\s+{_YEAR}\b", _calendar),
        (rf"\b{_DAY}(?:st|nd|rd|th)?(?:\s+of)?\s+{_MONTH},?\s+{_YEAR}\b", _calendar),
        (rf"\b{_MONTH},?\s+{_YEAR}\b", _calendar),
        (rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}(?:st|nd|rd|th)?\b", _calendar),
        (rf"\b{_DAY}(?:st|nd|rd|th)?(?:\s+of)?\s+{_MONTH}(?![a-z])", _calendar),
        (rf"\b(?:in|during|of|since|last|this)\s+{_MONTH}(?![a-z])", _calendar),
        (r"(?<!\d)(?P<month>1[0-2]|0?[1-9])\s*월(?![가-힣]*요일)", _calendar),
        (r"(?<![\d个])(?P<month>1[0-2]|0?[1-9])月(?!\d)", _calendar),
        (rf"\b{_COUNT_EN}\s+days?\s+ago\b", _ago(1, 0)),
        (rf"\b{_COUNT_EN}\s+weeks?\s+ago\b", _ago(7, 3)),
        (rf"\b{_COUNT_EN}\s+months?\s+ago\b", _ago(30, 15)),
        (rf"\b{_COUNT_EN}\s+years?\s+ago\b", _ago(365, 183)),
        (r"\bday before yesterday\b", _fixed(-2, -2)),
        (r"\byesterday\b|\blast night\b", _fixed(-1, -1)),
        (r"\btoday\b|\bthis (?:morning|afternoon|evening)\b|\btonight\b", _fixed(0, 0)),
        (rf"\b{_WEEKDAY_EN}\s+(?:of\s+)?(?P<week>last week)\b", _weekday("")),
        (rf"\b(?P<week>last week)(?:\s+on|'s)?\s+{_WEEKDAY_EN}\b", _weekday("")),
        (rf"\b(?:(?:on|last|this|this past|past)\s+){_WEEKDAY_EN}\b", _weekday("")),
        (r"\blast week\b", _week(1)),
        (r"\bthis week\b", _week(0)),
        (r"\blast month\b", _months_back(1)),
        (r"\bthis month\b", _months_back(0)),
        (r"\blast year\b", _years_back(1)),
        (r"\bthis year\b", _years_back(0)),
        (rf"\b(?:in|during|of|since)\s+{_YEAR}\b", _year),
        (r"그저께|그제", _fixed(-2, -2)),
        (r"어제|어젯밤|간밤", _fixed(-1, -1)),
        (r"오늘", _fixed(0, 0)),
        (rf"{_COUNT_KO}\s*일\s*전", _ago(1, 0)),
        (r"(?P<count>하루|이틀|사흘|나흘)\s*전", _ago(1, 0)),
        (rf"{_COUNT_KO}\s*주(?:일)?\s*전", _ago(7, 3)),
        (rf"{_COUNT_KO}\s*(?:개월|달)\s*전", _ago(30, 15)),
        (rf"{_COUNT_KO}\s*년\s*전", _ago(365, 183)),
        (r"(?P<week>지난\s*주|저번\s*주)\s*(?P<weekday>[월화수목금토일])요일", _weekday("월화수목금토일")),
        (r"(?P<weekday>[월화수목금토일])요일", _weekday("월화수목금토일")),
        (r"지난\s*주|저번\s*주", _week(1)),
        (r"이번\s*주", _week(0)),
        (r"지난\s*달|저번\s*달", _months_back(1)),
        (r"이번\s*달", _months_back(0)),
        (r"작년|지난\s*해", _years_back(1)),
        (r"올해", _years_back(0)),
        (rf"{_YEAR}\s*[년年]", _year),
        (r"前天|一昨日|おととい", _fixed(-2, -2)),
        (r"昨天|昨日|昨晚|きのう", _fixed(-1, -1)),
        (r"今天|今日", _fixed(0, 0)),
        (rf"{_COUNT_ZH}\s*[天日]\s*前", _ago(1, 0)),
        (rf"{_COUNT_ZH}\s*个?(?:周|星期|礼拜|週間)\s*前", _ago(7, 3)),
        (rf"{_COUNT_ZH}\s*(?:个|個|か|ヶ)?月\s*前", _ago(30, 15)),
        (rf"{_COUNT_ZH}\s*年\s*前", _ago(365, 183)),
        (r"(?P<week>上(?:个|個)?(?:周|週|星期|礼拜))(?P<weekday>[一二三四五六日])", _weekday("一二三四五六日")),
        (r"(?P<week>先週)の?(?P<weekday>[月火水木金土日])曜", _weekday("月火水木金土日")),
        (r"(?:周|週|星期|礼拜)(?P<weekday>[一二三四五六日])", _weekday("一二三四五六日")),
        (r"(?P<weekday>[月火水木金土日])曜", _weekday("月火水木金土日")),
        (r"上(?:个|個)?(?:周|週|星期|礼拜)|先週", _week(1)),
        (r"(?:这|這|本)(?:个|個)?(?:周|週|星期|礼拜)|今週", _week(0)),
        (r"上(?:个|個)?月|先月", _months_back(1)),
        (r"(?:这|這)(?:个|個)?月|本月|今月", _months_back(0)),
        (r"去年|昨年", _years_back(1)),
        (r"今年", _years_back(0)),
    ]
]
