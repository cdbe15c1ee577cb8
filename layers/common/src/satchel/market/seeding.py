"""Real daily bars that packages with clear licences carry, so that a first backtest needs no network and no key.

The packages are read as files and never imported: one of them would pull in a statistics library.
"""

import csv
import gzip
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path

from satchel.market.candles import Candle, CandleSet

_PRICE_STEP = Decimal("0.000001")
_STOCKS = ("AAPL", "GOOG", "IBM", "MSFT")
_INDICES = {"SP500": "sp500", "NASDAQ": "nasdaq"}


def seed_sets() -> Iterator[tuple[CandleSet, list[Candle]]]:
    """Every seed set whose package is installed, each with its candles, in order of symbol."""
    stocks = _file("bokeh_sampledata", "_data/stocks.csv.gz")
    if stocks is not None:
        rows = list(_rows(stocks))
        for symbol in _STOCKS:
            yield _stock_set(symbol), [_adjusted(row) for row in rows if row["Ticker"] == symbol]
    for symbol, name in _INDICES.items():
        path = _file("arch", f"data/{name}/{name}.csv.gz")
        if path is not None:
            yield _index_set(symbol), [_plain(row) for row in _rows(path)]


def _stock_set(symbol: str) -> CandleSet:
    return CandleSet(
        provider="bokeh_sampledata",
        symbol=symbol,
        timeframe="1d",
        source=f"{symbol} daily bars of the package bokeh_sampledata, prices adjusted for splits and dividends",
        licence="BSD-3-Clause",
    )


def _index_set(symbol: str) -> CandleSet:
    return CandleSet(
        provider="arch",
        symbol=symbol,
        timeframe="1d",
        source=f"{symbol} daily bars, 1999 to 2018, of the package arch",
        licence="NCSA",
    )


def _file(package: str, path: str) -> Path | None:
    spec = find_spec(package)
    for location in spec.submodule_search_locations or [] if spec else []:
        if (found := Path(location) / path).is_file():
            return found
    return None


def _rows(path: Path) -> Iterator[Mapping[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _adjusted(row: Mapping[str, str]) -> Candle:
    """A bar with all prices moved by the factor of its adjusted close: a split is no crash."""
    close = Decimal(row["Close"])
    factor = Decimal(row["Adj Close"]) / close
    prices = {name: (Decimal(row[name]) * factor).quantize(_PRICE_STEP) for name in ("Open", "High", "Low", "Close")}
    return Candle(
        ts=datetime.fromisoformat(row["Date"]).replace(tzinfo=UTC),
        open=prices["Open"],
        # Rounding, and a few bars of the source, leave the extremes a hair inside the open and the close.
        high=max(prices.values()),
        low=min(prices.values()),
        close=prices["Close"],
        volume=Decimal(row["Volume"]),
    )


def _plain(row: Mapping[str, str]) -> Candle:
    month, day, year = (int(part) for part in row["Date"].split("/"))
    prices = {name: Decimal(row[name]) for name in ("Open", "High", "Low", "Close")}
    return Candle(
        ts=datetime(year, month, day, tzinfo=UTC),
        open=prices["Open"],
        high=max(prices.values()),
        low=min(prices.values()),
        close=prices["Close"],
        volume=Decimal(row["Volume"]),
    )
