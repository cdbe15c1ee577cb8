"""The market feature's SQL: candles that a user sees."""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import datetime
from typing import Any

from satchel.market.candles import Candle, CandleSet, Columns, FoundSet
from satchel.postgres.database import Database
from satchel.postgres.queries import load_queries

_SQL = load_queries("satchel.market")
# Whose rows everybody sees.
EVERYBODY = ""
_COLUMNS = ("ts", "open", "high", "low", "close", "volume")
_BATCH = 5_000


class CandleStore:
    """The candles of one user, and those for everybody.

    Args:
        database: The store.
        user_id: Who reads and writes; `EVERYBODY` writes seed data.
    """

    def __init__(self, database: Database, user_id: str) -> None:
        self._database = database
        self._user_id = user_id

    def replace(self, candle_set: CandleSet, bars: Iterable[Candle], now: datetime) -> int:
        """Store a set in place of the one of the same symbol, timeframe and provider; all of it or nothing.

        Returns:
            How many bars it has.
        """
        key = {"user_id": self._user_id, **asdict(candle_set), "now": now}
        count = 0
        with self._database.transaction(self._user_id) as connection:
            connection.execute(_SQL["put_set"], key)
            connection.execute(_SQL["drop_bars"], key)
            for batch in _batches(bars):
                columns = {name: [getattr(bar, name) for bar in batch] for name in _COLUMNS}
                connection.execute(_SQL["insert_bars"], key | columns)
                count += len(batch)
        return count

    def find(self, symbol: str, timeframe: str) -> FoundSet | None:
        """The set this user sees of a symbol in a timeframe, their own before those for everybody."""
        row = self._database.fetch_one(self._user_id, _SQL["find_set"], symbol=symbol, timeframe=timeframe)
        if row is None:
            return None
        owner = row.pop("owner")
        return FoundSet(owner, CandleSet(**row))

    def available(self) -> list[tuple[str, str]]:
        """Every (symbol, timeframe) this user sees, in that order."""
        rows = self._database.fetch_all(self._user_id, _SQL["list_sets"])
        return [(row["symbol"], row["timeframe"]) for row in rows]

    def columns(self, found: FoundSet, since: datetime | None, until: datetime | None) -> Columns:
        """The bars of a set in [since, until), oldest first; None leaves a side open."""
        candle_set = found.candles
        row = self._database.fetch_one(
            self._user_id,
            _SQL["columns"],
            owner=found.owner,
            symbol=candle_set.symbol,
            timeframe=candle_set.timeframe,
            provider=candle_set.provider,
            since=since,
            until=until,
        )
        assert row is not None
        columns: dict[str, list[Any]] = {name: values or [] for name, values in row.items()}
        return Columns(**columns)


def _batches(bars: Iterable[Candle]) -> Iterator[list[Candle]]:
    rest = iter(bars)
    while batch := list(itertools.islice(rest, _BATCH)):
        yield batch
