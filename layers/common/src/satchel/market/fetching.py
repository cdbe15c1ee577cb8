"""Candles of an exchange, page by page."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Protocol

from satchel.errors import DeadlineError, InvalidInputError, TooLargeError
from satchel.market.candles import TIMEFRAMES, Candle, CandleSet

PAGE = 1_000
MAX_BARS = 20_000
# What storing takes, and one more page, in seconds.
_RESERVE_S = 8.0


class CandlePages(Protocol):
    """An exchange's public candles."""

    name: str

    def candles(self, symbol: str, timeframe: str, since_ms: int, limit: int) -> list[list[Any]]:
        """Up to `limit` bars from a time on, oldest first: milliseconds, open, high, low, close, volume as text."""
        ...


def fetch_candles(
    pages: CandlePages,
    symbol: str,
    timeframe: str,
    *,
    since: datetime,
    until: datetime | None,
    now: datetime,
    seconds_left: Callable[[], float],
) -> list[Candle]:
    """The finished bars of a symbol in [since, until), oldest first, each once.

    Raises:
        InvalidInputError: There are none, or one of them contradicts itself.
        TooLargeError: There are more than 20,000.
        DeadlineError: There was no time for all of them.
    """
    length = TIMEFRAMES[timeframe]
    # A bar that is not over yet would change.
    end = min(until or now, now - length + timedelta(microseconds=1))
    if (end - since) / length > MAX_BARS:
        raise TooLargeError(f"these are more than {MAX_BARS} bars; ask for a part of the time", field="since")
    found: list[Candle] = []
    start = since
    while start < end:
        if seconds_left() < _RESERVE_S:
            raise DeadlineError("the exchange is slow, and nothing was stored; ask for a part of the time")
        rows = pages.candles(symbol, timeframe, round(start.timestamp() * 1000), PAGE)
        page = [candle for candle in map(_candle, rows) if start <= candle.ts < end]
        found += page
        if not page or len(rows) < PAGE:
            break
        start = page[-1].ts + length
    if not found:
        raise InvalidInputError("the exchange has no bars of this time", field="since")
    return found


def fetched_set(exchange: str, symbol: str, timeframe: str, now: datetime) -> CandleSet:
    """Which candles these are."""
    return CandleSet(
        provider=exchange,
        symbol=symbol,
        timeframe=timeframe,
        source=f"{symbol} {timeframe} bars of {exchange}, fetched on {now:%Y-%m-%d} through ccxt",
        licence="the exchange's terms of use; not for passing on",
    )


def _candle(row: list[Any]) -> Candle:
    moment = datetime.fromtimestamp(row[0] / 1000, UTC)
    return Candle(moment, *(Decimal(str(amount)) for amount in row[1:6]))
