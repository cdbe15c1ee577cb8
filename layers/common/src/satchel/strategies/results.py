"""Reading what is stored: a backtest page by page, a strategy with its history."""

import base64
import json
from typing import Any, Protocol

from satchel.errors import InvalidInputError, NotFoundError
from satchel.strategies.backtest import AS_JOB
from satchel.strategies.chart import equity_png
from satchel.strategies.versions import StrategyVersion, changes
from satchel.timestamps import format_timestamp, parse_timestamp

SECTIONS = ("summary", "trades", "equity", "chart")
DEFAULT_PAGE = 100
MAX_PAGE = 1000
_RECENT = 5


class ResultStore(Protocol):
    """Where strategies and their backtests are."""

    def version(self, name: str, version: int | None = None) -> StrategyVersion | None:
        """One version of a strategy, or the current one."""
        ...

    def history(self, name: str) -> list[dict[str, Any]]:
        """The newest versions of a strategy, newest first."""
        ...

    def backtest(self, backtest_id: str) -> dict[str, Any] | None:
        """A stored backtest without its rows."""
        ...

    def recent_backtests(self, name: str, limit: int) -> list[dict[str, Any]]:
        """The newest backtests of a strategy, newest first."""
        ...

    def rows(self, backtest_id: str, section: str, *, start: int, limit: int) -> list[dict[str, Any]]:
        """Rows of a section from a place on, in order."""
        ...


def results_uri(backtest_id: str) -> str:
    """Where a backtest can be read."""
    return f"context://backtest/{backtest_id}/results"


def read_results(backtest_id: str, *, section: str | None, cursor: str, limit: str, store: ResultStore) -> str:
    """One page of a backtest as JSON: `items` in order, and `next`, the URI of the next page or null.

    Without a section it is the report with the first trades; the section `chart` is one page with a PNG.

    Raises:
        NotFoundError: The user has no such backtest.
        InvalidInputError: Section, cursor or limit is not one.
    """
    if section is not None and section not in SECTIONS:
        raise InvalidInputError(f"section is one of {', '.join(SECTIONS)}", field="section")
    start = _whole(cursor or "0", "cursor", least=0, most=2**31 - 1)
    size = _whole(limit or str(DEFAULT_PAGE), "limit", least=1, most=MAX_PAGE)
    found = store.backtest(backtest_id)
    if found is None:
        raise NotFoundError("there is no backtest of this id", field="backtest_id")
    page: dict[str, Any] = {"backtest_id": backtest_id, "section": section or "trades"}
    if section in {None, "summary"} and start == 0:
        page |= {"created_at": format_timestamp(found["created_at"]), "report": found["report"]}
    if section == "chart":
        rows = store.rows(backtest_id, "equity", start=0, limit=AS_JOB.bars)
        picture = equity_png([row["item"]["equity"] for row in rows], [row["item"]["drawdown"] for row in rows])
        page |= {"mime_type": "image/png", "base64": base64.b64encode(picture).decode(), "next": None}
    elif section != "summary":
        rows = store.rows(backtest_id, page["section"], start=start, limit=size + 1)
        page["items"] = [_shown(row["item"]) for row in rows[:size]]
        more = f"{results_uri(backtest_id)}?section={page['section']}&cursor={start + size}&limit={size}"
        page["next"] = more if len(rows) > size else None
    return json.dumps(page, ensure_ascii=False)


def _shown(item: dict[str, Any]) -> dict[str, Any]:
    """A row as it goes out: a bar's time is kept as epoch seconds."""
    if "ts" not in item:
        return item
    return item | {"ts": format_timestamp(parse_timestamp(item["ts"], field="ts"))}


def find_version(name: str, version: int | None, *, store: ResultStore) -> StrategyVersion:
    """A version of a strategy, the current one where none is named.

    Raises:
        NotFoundError: The user has no such strategy or version.
    """
    found = store.version(name, version)
    if found is None:
        raise NotFoundError("there is no such strategy, or no such version of it", field="name")
    return found


def read_strategy_context(name: str, *, version: str, store: ResultStore) -> str:
    """A strategy as JSON: its code, what changed against the version before, its history and latest backtests.

    Raises:
        NotFoundError: The user has no such strategy or version.
        InvalidInputError: The version is no number.
    """
    number = _whole(version, "version", least=1, most=2**31 - 1) if version else None
    found = find_version(name, number, store=store)
    before = store.version(name, found.version - 1) if found.version > 1 else None
    context = {
        "name": found.name,
        "version": found.version,
        "metadata": found.metadata,
        "hash": found.hash,
        "updated_at": format_timestamp(found.created_at),
        "code": found.code,
        "changes": changes(before, found),
        "versions": [
            {"version": row["version"], "hash": row["hash"], "created_at": format_timestamp(row["created_at"])}
            for row in store.history(name)
        ],
        "backtests": [
            {
                "backtest_id": row["backtest_id"],
                "version": row["strategy_version"],
                **row["headline"],
                "created_at": format_timestamp(row["created_at"]),
                "results_uri": results_uri(row["backtest_id"]),
            }
            for row in store.recent_backtests(name, _RECENT)
        ],
    }
    return json.dumps(context, ensure_ascii=False)


def _whole(text: str, field: str, *, least: int, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most)) and least <= int(text) <= most):
        raise InvalidInputError(f"{field} is a whole number from {least} to {most}", field=field)
    return int(text)
