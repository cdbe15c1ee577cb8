"""Conditions that come from the data: a value of a column that the question names, a date range, a filter's glob.

Pure. A condition lifts the items that meet it; it removes nothing, unless the caller asked for that by name.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from itertools import chain
from operator import itemgetter
from typing import Any, cast

from satchel.filtering import words
from satchel.filtering.date_ranges import DateRange
from satchel.filtering.json_values import is_array, is_object

MAX_VALUE_CHARS = 40
MIN_ITEMS = 5
_MIN_DISTINCT = 20
_DISTINCT_SHARE = 8
_REPEATS = 1.4
_MAX_COLUMNS = 60
_MIN_DIGITS = 3
_SAMPLE_ITEMS = 100
_ISO_DATE = re.compile(r"(?:19|20)\d\d-\d\d-\d\d")
_EPOCH_FROM, _EPOCH_TO, _MILLISECONDS = 315_532_800, 4_102_444_800, 1000
_GET: Callable[[Any, str], Any] = cast("Any", dict).get
_TIME_FIRST = ("created", "timestamp", "ts", "time", "date", "updated")


@dataclass(frozen=True, slots=True)
class Condition:
    """What some items meet and others do not.

    Attributes:
        column: Path of the field it looks at, parts joined by dots.
        met: Whether each item meets it, in the order of the array.
    """

    column: str
    met: list[bool]


class Table:
    """An array seen by columns: scalars of its objects, and of objects inside them one level down.

    Columns are named by their path, parts joined by dots, in the order in which a sample of the items names them, at
    most 60. They are read when first asked for, since most are never needed.
    """

    def __init__(self, items: Sequence[Any]) -> None:
        is_objects = set(map(type, items)) == {dict}
        self._rows: Sequence[dict[str, Any]] = (
            items if is_objects else [item if is_object(item) else {} for item in items]
        )
        step = max(1, len(self._rows) // _SAMPLE_ITEMS)
        self._sample = self._rows[::step]
        self._read: dict[str, list[Any]] = {}
        self._sampled: dict[str, list[Any]] = {}
        paths: dict[tuple[str, ...], None] = {}
        for key in dict.fromkeys(chain.from_iterable(self._sample)):
            values = _column(self._sample, (key,))
            kinds = set(map(type, values))
            if dict in kinds:
                inner = dict.fromkeys(chain.from_iterable(value for value in values if is_object(value)))
                paths.update(((key, name), None) for name in inner)
            if kinds - {dict, list}:
                paths[key,] = None
                self._sampled[key] = values
            if len(paths) > _MAX_COLUMNS:
                break
        self.paths = {".".join(path): path for path in list(paths)[:_MAX_COLUMNS]}

    def __len__(self) -> int:
        return len(self._rows)

    def sample(self, column: str) -> list[Any]:
        """Values of one column in about 100 items spread over the array; None where an item lacks it."""
        if column not in self._sampled:
            self._sampled[column] = _column(self._sample, self.paths[column])
        return self._sampled[column]

    def values(self, column: str) -> list[Any]:
        """Values of one column, in the array's order; None where an item lacks it."""
        if column not in self._read:
            self._read[column] = _column(self._rows, self.paths[column])
        return self._read[column]


def _column(rows: Sequence[Mapping[str, Any]], path: tuple[str, ...]) -> list[Any]:
    try:
        values = list(map(itemgetter(path[0]), rows))
    except KeyError:  # not every item has it
        values = [row.get(path[0]) for row in rows]
    if len(path) > 1:
        name = path[1]
        return [_GET(value, name) if type(value) is dict else None for value in values]
    return values


def _spaced(text: str) -> str:
    return " " + " ".join(words.WORD.findall(words.normalise(text).lower())) + " "


def named_values(table: Table, sentence: str) -> list[Condition]:
    """One condition for each categorical column of which the sentence names a value (any of the named ones counts).

    A column is categorical when its short strings repeat: at most 20 of them, or an eighth of the items.
    """
    asked = _spaced(sentence)
    found: list[Condition] = []
    for column in table.paths:
        strings = [value for value in table.sample(column) if type(value) is str]
        if len(strings) < MIN_ITEMS or sum(map(len, strings)) > MAX_VALUE_CHARS * len(strings):
            continue
        if len(set(strings)) * _REPEATS > len(strings) > _MIN_DISTINCT:
            continue  # nearly each is another one: ids, names, times
        values = table.values(column)
        distinct = [value for value in _distinct(values) if type(value) is str]
        most = max(_MIN_DISTINCT, len(table) // _DISTINCT_SHARE)
        if not 1 < len(distinct) <= most or len(distinct) * 2 > len(values):
            continue
        named = {value for value in distinct if _is_named(value, asked)}
        if named and len(named) < len(distinct):
            found.append(Condition(column, [type(value) is str and value in named for value in values]))
    return found


def _distinct(values: Sequence[Any]) -> Iterable[Any]:
    try:
        return set(values)
    except TypeError:  # arrays or objects among them
        return {value for value in values if type(value) is str}


def _is_named(value: str, asked: str) -> bool:
    start = value[:2] if value[:2].isalnum() else value[:1]
    if start.isascii() and start.isalnum() and " " + start.lower() not in asked:
        return False  # nearly every value: none of the asked words starts like it
    phrase = _spaced(value)
    bare = phrase.strip()
    return (
        bool(bare)
        and bare not in words.FUNCTION_WORDS
        and not (bare.isdigit() and len(bare) < _MIN_DIGITS)
        and phrase in asked
    )


def _day(value: Any) -> str | None:
    """The ISO day of a time stamp: a string that starts with one, or epoch seconds or milliseconds."""
    if type(value) is str:
        if _ISO_DATE.match(value):
            return value[:10]
        try:
            value = float(value)
        except ValueError:
            return None
    if type(value) not in (int, float):
        return None
    seconds = value / _MILLISECONDS if value > _EPOCH_TO else value
    if not _EPOCH_FROM <= seconds <= _EPOCH_TO:
        return None
    return datetime.fromtimestamp(seconds, tz=UTC).date().isoformat()


def _time_columns(table: Table) -> list[str]:
    found: list[str] = []
    for column in table.paths:
        sample = [value for value in table.sample(column) if value is not None][:20]
        if sample and all(_day(value) is not None for value in sample):
            name = column.rsplit(".", 1)[-1].lower()
            if (type(sample[0]) is str and _ISO_DATE.match(sample[0])) or any(part in name for part in _TIME_FIRST):
                found.append(column)
    return found


def in_ranges(table: Table, ranges: Sequence[DateRange], sentence: str) -> list[Condition]:
    """One condition for each date range, on the time column that the words before it name, else the likeliest one."""
    times = _time_columns(table) if ranges else []
    if not times:
        return []
    by_stem: dict[str, str] = {}
    for column in times:
        for part in words.parts(column):
            by_stem.setdefault(words.stem(part), column)
    likeliest = min(times, key=_rank)
    found: list[Condition] = []
    for span in ranges:
        before = [words.stem(word.lower()) for word in words.WORD.findall(sentence[: span.begin])]
        column = next((by_stem[stem] for stem in reversed(before) if stem in by_stem), likeliest)
        first, last = (day.isoformat() if day else None for day in (span.first, span.last))
        found.append(Condition(column, [_inside(_day(value), first, last) for value in table.values(column)]))
    return found


def _rank(column: str) -> int:
    name = column.rsplit(".", 1)[-1].lower()
    return next((place for place, part in enumerate(_TIME_FIRST) if part in name), len(_TIME_FIRST))


def _inside(day: str | None, first: str | None, last: str | None) -> bool:
    return day is not None and (first is None or day >= first) and (last is None or day <= last)


def asked_filters(
    table: Table, filters: Mapping[str, Any], column_names: Mapping[str, Sequence[str]]
) -> list[Condition]:
    """One condition for each filter whose column the data has: exact values or globs (`team-*`), case apart.

    Args:
        table: The array.
        filters: Filter name -> value or list of values, as an intent carries them.
        column_names: Names of columns that a filter may mean, by filter name, from the tool's configuration.
    """
    by_name = {column.rsplit(".", 1)[-1].lower(): column for column in reversed(list(table.paths))}
    by_name |= {column.lower(): column for column in table.paths}
    found: list[Condition] = []
    for name, wanted in filters.items():
        patterns = [_glob(value) for value in (wanted if is_array(wanted) else [wanted]) if _is_pattern(value)]
        singular = name.lower().removesuffix("s")
        candidates = (name.lower(), singular, *column_names.get(name, ()))
        column = next((by_name[key] for key in candidates if key in by_name), None)
        if column is not None and patterns:
            matches = _matcher(patterns)
            found.append(Condition(column, [matches(value) for value in table.values(column)]))
    return found


def _is_pattern(value: Any) -> bool:
    return type(value) in (str, int, float, bool)


def _glob(value: Any) -> str:
    return str(value).lower().lstrip("#@")


def _matcher(patterns: Sequence[str]) -> Callable[[Any], bool]:
    known: dict[str, bool] = {}

    def matches(value: Any) -> bool:
        if value is None:
            return False
        text = str(value).lower().lstrip("#@")
        if text not in known:
            known[text] = any(fnmatchcase(text, pattern) for pattern in patterns)
        return known[text]

    return matches
