"""The strategies feature's SQL: versions, backtests and trials of one user."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from satchel.postgres.database import Database
from satchel.postgres.queries import load_queries
from satchel.strategies.versions import StrategyVersion

_SQL = load_queries("satchel.strategies")


class StrategyStore:
    """The strategies of one user and what was found out about them.

    Args:
        database: The store.
        user_id: Whose; every statement runs as this user.
    """

    def __init__(self, database: Database, user_id: str) -> None:
        self._database = database
        self._user_id = user_id

    def put_version(
        self, name: str, *, code: str, digest: str, metadata: dict[str, Any], now: datetime
    ) -> tuple[StrategyVersion, bool]:
        """The current version of `name`, with this code, and whether this call made it."""
        key = {"user_id": self._user_id, "name": name, "version": None}
        with self._database.transaction(self._user_id) as connection:
            connection.execute(_SQL["lock_strategy"], key)
            found = connection.execute(_SQL["get_version"], key).fetchone()
            if found and found["hash"] == digest:
                return StrategyVersion(**found), False
            version = StrategyVersion(name, (found["version"] if found else 0) + 1, code, digest, metadata, now)
            row = {"version": version.version, "code": code, "hash": digest, "metadata": Jsonb(metadata), "now": now}
            connection.execute(_SQL["insert_version"], key | row)
        return version, True

    def version(self, name: str, version: int | None = None) -> StrategyVersion | None:
        """One version of `name`, or the current one."""
        row = self._database.fetch_one(self._user_id, _SQL["get_version"], name=name, version=version)
        return StrategyVersion(**row) if row else None

    def current(self) -> list[dict[str, Any]]:
        """The current version of every strategy without its code, by name."""
        return self._database.fetch_all(self._user_id, _SQL["list_current"])

    def history(self, name: str) -> list[dict[str, Any]]:
        """The newest 100 versions of `name` (`version`, `hash`, `created_at`), newest first."""
        return self._database.fetch_all(self._user_id, _SQL["list_versions"], name=name)

    def put_backtest(
        self,
        backtest_id: str,
        strategy: StrategyVersion,
        report: dict[str, Any],
        sections: dict[str, list[dict[str, Any]]],
        now: datetime,
    ) -> None:
        """Store a finished backtest, all of it or nothing."""
        key = {"user_id": self._user_id, "backtest_id": backtest_id}
        head = {"strategy": strategy.name, "strategy_version": strategy.version, "report": Jsonb(report), "now": now}
        with self._database.transaction(self._user_id) as connection:
            connection.execute(_SQL["insert_backtest"], key | head)
            for section, items in sections.items():
                connection.execute(_SQL["insert_rows"], key | {"section": section, "items": Jsonb(items)})

    def backtest(self, backtest_id: str) -> dict[str, Any] | None:
        """A stored backtest without its rows."""
        return self._database.fetch_one(self._user_id, _SQL["get_backtest"], backtest_id=backtest_id)

    def recent_backtests(self, name: str, limit: int) -> list[dict[str, Any]]:
        """The newest backtests of a strategy, newest first."""
        return self._database.fetch_all(self._user_id, _SQL["recent_backtests"], name=name, limit=limit)

    def recent_work(self, limit: int) -> list[dict[str, Any]]:
        """The strategies written or tested last, newest first, each with the headline of its newest backtest."""
        return self._database.fetch_all(self._user_id, _SQL["recent_work"], limit=limit)

    def rows(self, backtest_id: str, section: str, *, start: int, limit: int) -> list[dict[str, Any]]:
        """Up to `limit` rows of a section (`seq`, `item`) from `start` on, in order."""
        return self._database.fetch_all(
            self._user_id, _SQL["page_rows"], backtest_id=backtest_id, section=section, start=start, limit=limit
        )

    def put_trials(self, strategy: str, trials: Sequence[tuple[str, float | None]], now: datetime) -> list[float]:
        """Remember trials (their key, their Sharpe ratio per bar) and return the ratios of all that were ever made.

        A trial of the same key is the same trial. Those without a ratio are counted by none.
        """
        key = {"user_id": self._user_id, "strategy": strategy}
        with self._database.transaction(self._user_id) as connection:
            for trial, sharpe in trials:
                connection.execute(_SQL["put_trial"], key | {"trial": trial, "sharpe": sharpe, "now": now})
            rows = connection.execute(_SQL["list_trials"], key).fetchall()
        return [row["sharpe"] for row in rows if row["sharpe"] is not None]
