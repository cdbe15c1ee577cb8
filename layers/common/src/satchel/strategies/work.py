"""What was done with a strategy, in a line: for whoever comes back to it in a later conversation."""

from collections.abc import Mapping
from typing import Any


def work_line(work: Mapping[str, Any]) -> str:
    """A strategy and its newest backtest in words.

    Args:
        work: A row of `StrategyStore.recent_work`.
    """
    name = f"{work['name']} (version {work['version']})"
    headline = work["headline"]
    if headline is None:
        return f"{name}, not tested yet"
    tested = "" if work["tested_version"] == work["version"] else f"version {work['tested_version']} "
    found = ", ".join(
        f"{words} {value:.{digits}f}{unit}"
        for words, value, digits, unit in (
            ("return", headline["return_pct"], 1, " %"),
            ("Sharpe ratio", headline["sharpe"], 2, ""),
            ("deepest drawdown", headline["max_drawdown_pct"], 1, " %"),
        )
        # A strategy can write into its own report; only the numbers of it are for telling.
        if isinstance(value, int | float)
    )
    suspected = "; look-ahead suspected" if headline["lookahead"] != "not_found" else ""
    where = f"{headline['symbol']} {headline['timeframe']}"
    return f"{name}, {tested}tested on {where}: {found}, {_counted(headline['trades'])}{suspected}"


def _counted(trades: int) -> str:
    return f"{trades} trade{'' if trades == 1 else 's'}"
