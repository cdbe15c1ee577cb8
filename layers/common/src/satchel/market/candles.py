"""Candles as values: one bar of prices, a set of bars with its source, and what a timeframe is."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from satchel.errors import InvalidInputError

TIMEFRAMES = {
    "1m": timedelta(minutes=1),
    "5m": timedelta(minutes=5),
    "15m": timedelta(minutes=15),
    "30m": timedelta(minutes=30),
    "1h": timedelta(hours=1),
    "4h": timedelta(hours=4),
    "1d": timedelta(days=1),
    "1w": timedelta(weeks=1),
}


@dataclass(frozen=True, slots=True)
class Candle:
    """One bar: the prices in [ts, ts + timeframe), in the symbol's quote currency, and the amount traded.

    Raises:
        InvalidInputError: The prices contradict each other; `field` names which.
    """

    ts: datetime
    open: Decimal
    high: Decimal
    low: Decimal
    close: Decimal
    volume: Decimal

    def __post_init__(self) -> None:
        for name in ("open", "high", "low", "close", "volume"):
            if not getattr(self, name).is_finite():
                raise InvalidInputError(f"{name} is not a number", field=name)
        if self.low <= 0:
            raise InvalidInputError("prices are positive", field="low")
        if self.low > min(self.open, self.close):
            raise InvalidInputError("low is above the open or the close", field="low")
        if self.high < max(self.open, self.close):
            raise InvalidInputError("high is below the open or the close", field="high")
        if self.volume < 0:
            raise InvalidInputError("volume is negative", field="volume")


@dataclass(frozen=True, slots=True)
class CandleSet:
    """Which candles, and where they are from.

    Attributes:
        provider: Who they were got from, such as `bokeh_sampledata` or a file's name.
        symbol: As its traders write it, such as `AAPL` or `BTC/USDT`.
        timeframe: One of `TIMEFRAMES`.
        source: For people: what the data is and what was done to it.
        licence: Its licence; `unknown` where the importer was not told.
        synthetic: Whether it was made up; such data says so wherever it shows.
    """

    provider: str
    symbol: str
    timeframe: str
    source: str
    licence: str
    synthetic: bool = False


@dataclass(frozen=True, slots=True)
class FoundSet:
    """A candle set and whose rows it is."""

    owner: str
    candles: CandleSet


@dataclass(frozen=True, slots=True)
class Columns:
    """Bars by column, as a backtest takes them; `ts` is in seconds since 1970, prices are binary floats.

    Bars are in order of time. A backtest is statistics; money is counted in `Decimal` elsewhere.
    """

    ts: list[int]
    open: list[float]
    high: list[float]
    low: list[float]
    close: list[float]
    volume: list[float]

    def digest(self) -> str:
        """SHA-256 of the bars: the same data gives the same digest."""
        columns = [self.ts, self.open, self.high, self.low, self.close, self.volume]
        return hashlib.sha256(json.dumps(columns, separators=(",", ":")).encode()).hexdigest()


def check_timeframe(timeframe: str) -> None:
    """Raise `InvalidInputError` for what is no timeframe."""
    if timeframe not in TIMEFRAMES:
        raise InvalidInputError(f"timeframe is one of {', '.join(TIMEFRAMES)}", field="timeframe")
