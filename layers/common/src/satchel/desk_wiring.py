"""From settings to what the trading desk needs. Apart from `wiring`, so that each loads only its own."""

import secrets
from functools import cache

from satchel.market.fetching import CandlePages
from satchel.market.seeding import seed_sets
from satchel.market.store import EVERYBODY, CandleStore
from satchel.memory.summary import Deed
from satchel.strategies.store import StrategyStore
from satchel.strategies.work import work_line
from satchel.trading.store import TradingStore
from satchel.wiring import clock, database

# Strategies that the conversation summary names.
_SHOWN_DEEDS = 3


def strategy_store(user_id: str) -> StrategyStore:
    """The strategies of one user."""
    return StrategyStore(database(), user_id)


def strategy_deeds(user_id: str) -> list[Deed]:
    """The strategies this user worked on last, for the conversation summary."""
    rows = strategy_store(user_id).recent_work(_SHOWN_DEEDS)
    return [Deed(row["worked_at"], work_line(row)) for row in rows]


def candle_store(user_id: str) -> CandleStore:
    """The candles this user sees; seed data is put there when first asked for."""
    seed_once()
    return own_candles(user_id)


def own_candles(user_id: str) -> CandleStore:
    """The candles of one user."""
    return CandleStore(database(), user_id)


def candle_pages(exchange: str) -> CandlePages:
    """The public candles of an exchange; no key is used."""
    from satchel.exchange.ccxt_spot import CcxtExchange, open_exchange  # noqa: PLC0415 - only to fetch them

    return CcxtExchange(exchange, open_exchange(exchange, {}))


def trading_store(user_id: str) -> TradingStore:
    """The trading of one user."""
    return TradingStore(database(), user_id)


def market(user_id: str) -> TradingStore:
    """The trading of one user, for what needs prices: seed data is put there when first asked for."""
    seed_once()
    return trading_store(user_id)


def new_token() -> str:
    """A fresh token that nobody guesses."""
    return secrets.token_urlsafe(24)


@cache
def seed_once() -> None:
    """Store the bars of the installed packages for everybody, unless there are any."""
    everybody = CandleStore(database(), EVERYBODY)
    if not everybody.available():
        for candle_set, bars in seed_sets():
            everybody.replace(candle_set, bars, clock())
