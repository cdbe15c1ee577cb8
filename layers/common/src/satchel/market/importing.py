"""Reading candles from CSV text: any column order, the usual names, exact prices."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation

from satchel.errors import InvalidInputError
from satchel.market.candles import Candle
from satchel.timestamps import parse_timestamp

_NAMES = {
    "ts": ("ts", "timestamp", "time", "date", "datetime", "open_time"),
    "open": ("open", "o"),
    "high": ("high", "h"),
    "low": ("low", "l"),
    "close": ("close", "c"),
    "volume": ("volume", "vol", "v"),
}


def read_csv(lines: Iterable[str]) -> Iterator[Candle]:
    """Candles of CSV text with a header, in order of time.

    Volume may be missing (then 0). Dates are ISO-8601, epoch seconds or milliseconds; naive means UTC.

    Raises:
        InvalidInputError: A line is wrong, or two bars have the same time; the message names the line.
    """
    reader = csv.DictReader(lines)
    try:
        columns = _columns(reader.fieldnames or ())
        yield from _candles(reader, columns)
    except csv.Error as error:
        raise InvalidInputError(f"line {reader.line_num + 1} is no CSV: {error}", field="csv") from error


def _candles(reader: "csv.DictReader[str]", columns: Mapping[str, str]) -> Iterator[Candle]:
    previous: Candle | None = None
    for row in reader:
        candle = _candle(row, columns, reader.line_num)
        if previous is not None and candle.ts <= previous.ts:
            raise InvalidInputError(f"line {reader.line_num}: bars must be in order of time, each once", field="ts")
        previous = candle
        yield candle


def _columns(header: Iterable[str]) -> dict[str, str]:
    found = {name.strip().lower(): name for name in header}
    columns = {field: found[name] for field, names in _NAMES.items() for name in reversed(names) if name in found}
    for field, names in _NAMES.items():
        if field not in columns and field != "volume":
            raise InvalidInputError(f"there is no column for {field} ({', '.join(names)})", field=field)
    return columns


def _candle(row: Mapping[str, str], columns: Mapping[str, str], line: int) -> Candle:
    try:
        prices = {field: Decimal(row[name].strip()) for field, name in columns.items() if field != "ts"}
        return Candle(ts=parse_timestamp(row[columns["ts"]].strip(), field="ts"), **{"volume": Decimal(0), **prices})
    except (InvalidOperation, AttributeError) as error:
        raise InvalidInputError(f"line {line}: a price is not a number") from error
    except InvalidInputError as error:
        raise InvalidInputError(f"line {line}: {error.message}", field=error.field) from error
