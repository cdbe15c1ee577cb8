"""What is kept of a backtest, from what the driver left in the sandbox."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from satchel.market.candles import CandleSet, Columns
from satchel.strategies.deflated import Moments, deflated_sharpe, expected_best_sharpe
from satchel.strategies.request import BacktestRequest
from satchel.strategies.versions import StrategyVersion


@dataclass(frozen=True, slots=True)
class Selection:
    """The run that was picked, among those of this request."""

    trials: list[tuple[str, float | None]]
    best: Moments | None

    def judged(self, sharpes: list[float]) -> dict[str, Any]:
        """What is left of it once all that were ever tried are counted."""
        return {
            "trials_in_this_run": len({key for key, _ in self.trials}),
            "trials_ever": len(sharpes),
            "sharpe_per_bar": self.best.sharpe if self.best else None,
            "expected_best_by_luck": expected_best_sharpe(sharpes),
            "deflated_sharpe": deflated_sharpe(self.best, sharpes) if self.best else None,
        }


def selection_of(strategy: StrategyVersion, setting: list[str], answer: Mapping[str, Any]) -> Selection:
    """The trials by a key that is the same for the same code, data, costs and parameters, given or default."""
    trials: list[tuple[str, float | None]] = []
    best: Moments | None = None
    for trial in answer["trials"]:
        text = json.dumps([strategy.hash, setting, trial["params"]], sort_keys=True)
        sharpe = trial["moments"]["sharpe"]
        trials.append((hashlib.sha256(text.encode()).hexdigest(), None if sharpe is None else float(sharpe)))
        if trial["params"] == answer["params"] and sharpe is not None:
            best = Moments(**trial["moments"])
    return Selection(trials, best)


def report_of(
    request: BacktestRequest, strategy: StrategyVersion, candle_set: CandleSet, bars: Columns, answer: Mapping[str, Any]
) -> dict[str, Any]:
    """The report of a run, without its data, engine and selection."""
    stats = answer["stats"]
    lookahead = "not_found" if answer["lookahead"] == "not_found" else "suspected"
    return {
        "strategy": {"name": strategy.name, "version": strategy.version, "hash": strategy.hash},
        "request": _request_json(request, answer["params"]),
        "stats": stats,
        "undefined": answer["undefined"],
        "lookahead": lookahead,
        "lookahead_reason": answer["lookahead_reason"],
        "lookahead_places": answer["lookahead_places"],
        "trials": [
            {"params": trial["params"], "return_pct": trial["return_pct"], "trades": trial["trades"]}
            for trial in answer["trials"]
        ],
        "counts": {"trades": len(answer["trades"]), "equity": len(bars.ts)},
        "headline": {
            "symbol": candle_set.symbol,
            "timeframe": candle_set.timeframe,
            "return_pct": stats.get("Return [%]"),
            "sharpe": stats.get("Sharpe Ratio"),
            "max_drawdown_pct": stats.get("Max. Drawdown [%]"),
            "trades": len(answer["trades"]),
            "lookahead": lookahead,
        },
    }


def _request_json(request: BacktestRequest, params: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "params": params,
        "cash": format(request.cash, "f"),
        "commission": format(request.commission, "f"),
        "fills": "at the next bar's open",
    }


def data_json(candle_set: CandleSet, bars: Columns, note: str | None) -> dict[str, Any]:
    """Which bars a run had, with their source and licence."""
    return {
        "symbol": candle_set.symbol,
        "timeframe": candle_set.timeframe,
        "provider": candle_set.provider,
        "source": candle_set.source,
        "licence": candle_set.licence,
        "synthetic": candle_set.synthetic,
        "bars": len(bars.ts),
        "sha256": bars.digest(),
        "note": note,
    }


def equity_rows(bars: Columns, curve: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    """Equity and drawdown by bar."""
    return [
        {"ts": ts, "equity": equity, "drawdown": drawdown}
        for ts, equity, drawdown in zip(bars.ts, curve["equity"], curve["drawdown"], strict=True)
    ]
