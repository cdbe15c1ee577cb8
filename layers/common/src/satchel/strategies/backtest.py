"""Running a backtest: choose the bars, run the strategy in the sandbox, keep what came out."""

import hashlib
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from importlib.resources import files
from typing import Any, Protocol, cast

from satchel.errors import DeadlineError, InvalidInputError, NotFoundError, TooLargeError, UnavailableError
from satchel.market.candles import CandleSet, Columns, FoundSet, check_timeframe
from satchel.sandbox.model import MIB, Limits, SandboxEngine, SandboxResult
from satchel.strategies.deflated import Moments, deflated_sharpe, expected_best_sharpe
from satchel.strategies.versions import StrategyVersion

MAX_BARS = 50_000
MIN_BARS = 3
MAX_TRIALS = 50
TRADES_SHOWN = 5
DEFAULT_SYMBOL = "AAPL"
DEFAULT_TIMEFRAME = "1d"
_LIMITS = Limits(time_s=22.0, memory_bytes=768 * MIB, value_bytes=32 * MIB, output_bytes=16 * 1024, artefacts=0)


@dataclass(frozen=True, slots=True)
class BacktestRequest:
    """What to test.

    Attributes:
        strategy: Name of a stored strategy; its current version is run.
        params: Values for its parameters. A list of values makes a sweep over all combinations, at most 50.
        symbol: None: the strategy's first symbol, else AAPL.
        timeframe: None: the strategy's, else `1d`.
        since: First bar; None: the first there is.
        until: Bars before this; None: to the last there is.
        cash: Money at the start.
        commission: Share of each trade's value, both ways.
    """

    strategy: str
    params: Mapping[str, Any]
    symbol: str | None
    timeframe: str | None
    since: datetime | None
    until: datetime | None
    cash: Decimal
    commission: Decimal


@dataclass(frozen=True, slots=True)
class Backtest:
    """A stored backtest: its id, the report, and its first trades."""

    backtest_id: str
    report: dict[str, Any]
    trades: list[dict[str, Any]]


class BacktestStore(Protocol):
    """Where strategies are and backtests go."""

    def version(self, name: str, version: int | None = None) -> StrategyVersion | None:
        """One version of a strategy, or the current one."""
        ...

    def put_trials(self, strategy: str, trials: Sequence[tuple[str, float | None]], now: datetime) -> list[float]:
        """Remember trials and return the Sharpe ratios of all that were ever made."""
        ...

    def put_backtest(
        self,
        backtest_id: str,
        strategy: StrategyVersion,
        report: dict[str, Any],
        sections: dict[str, list[dict[str, Any]]],
        now: datetime,
    ) -> None:
        """Store a finished backtest, all of it or nothing."""
        ...


class CandleSource(Protocol):
    """Where bars come from."""

    def find(self, symbol: str, timeframe: str) -> FoundSet | None:
        """The set to use for a symbol in a timeframe."""
        ...

    def available(self) -> list[tuple[str, str]]:
        """Every (symbol, timeframe) there is."""
        ...

    def columns(self, found: FoundSet, since: datetime | None, until: datetime | None) -> Columns:
        """The bars of a set in [since, until)."""
        ...


def run_backtest(
    request: BacktestRequest,
    *,
    store: BacktestStore,
    candles: CandleSource,
    engine: SandboxEngine,
    clock: Callable[[], datetime],
    new_id: Callable[[], str],
) -> Backtest:
    """Run and store a backtest.

    Orders that a strategy places at a bar are filled at the next bar's open. Of a sweep, the run with the best Sharpe
    ratio per bar is kept whole, beside how many were ever tried of this strategy and what that leaves of its ratio.

    Raises:
        NotFoundError: There is no such strategy, or there are no candles for a symbol that was named.
        InvalidInputError: The parameters are not the strategy's, or the strategy fails while it runs.
        TooLargeError: Over 50 combinations, or over 50,000 bars.
        DeadlineError: It does not end within 22 seconds.
        UnavailableError: No sandbox can run here.
    """
    strategy = store.version(request.strategy)
    if strategy is None:
        raise NotFoundError("there is no strategy of this name", field="strategy")
    trials = combinations(request.params, strategy.metadata)
    found, note = _choose(request, strategy, candles)
    bars = candles.columns(found, request.since, request.until)
    _check_length(bars)
    result = engine.run(_driver(), _inputs(request, strategy, bars, trials), _LIMITS)
    answer = _answer(result)
    now = clock()
    backtest_id = new_id()
    try:
        selection = _selection(strategy, [found.candles.symbol, bars.digest(), str(request.commission)], answer)
        sections = {"trades": list(answer["trades"]), "equity": _equity_rows(bars, answer["curve"])}
        report = _report(request, strategy, found.candles, bars, answer) | {
            "data": _data_json(found.candles, bars, note),
            "engine": {"library": answer["library"], "layers": list(result.layers), "duration_ms": result.duration_ms},
        }
        sharpes = store.put_trials(strategy.name, selection.trials, now)
        report["selection"] = selection.judged(sharpes)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        # The driver's answer passed through the strategy's own process, which can write what it likes there.
        raise InvalidInputError("the strategy breaks its own report", field="strategy") from error
    store.put_backtest(backtest_id, strategy, report, sections, now)
    return Backtest(backtest_id, report, sections["trades"][:TRADES_SHOWN])


def combinations(params: Mapping[str, Any], metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every combination of the values given, the last parameter varying fastest.

    Raises:
        InvalidInputError: The strategy has no such parameter, or a list is empty.
        TooLargeError: There are more than 50.
    """
    known = metadata["params"]
    for name, value in params.items():
        if name not in known:
            has = f"it has {', '.join(sorted(known))}" if known else "it has none"
            raise InvalidInputError(f"the strategy has no parameter of this name; {has}", field=f"params.{name}")
        if value == []:
            raise InvalidInputError("a list of values is empty", field=f"params.{name}")
    values = [cast("list[Any]", value) if isinstance(value, list) else [value] for value in params.values()]
    count = 1
    for choices in values:
        count *= len(choices)
    if count > MAX_TRIALS:
        raise TooLargeError(f"{count} combinations are more than {MAX_TRIALS}", field="params")
    return [dict(zip(params, chosen, strict=True)) for chosen in itertools.product(*values)]


def _choose(request: BacktestRequest, strategy: StrategyVersion, candles: CandleSource) -> tuple[FoundSet, str | None]:
    """The candles to run on, and a sentence where they are not those that the strategy names."""
    symbols = strategy.metadata["symbols"]
    symbol = request.symbol or (symbols[0] if symbols else DEFAULT_SYMBOL)
    timeframe = request.timeframe or strategy.metadata["timeframe"] or DEFAULT_TIMEFRAME
    check_timeframe(timeframe)
    found = candles.find(symbol, timeframe)
    if found is not None:
        return found, None
    if request.symbol is None and request.timeframe is None:
        found = candles.find(DEFAULT_SYMBOL, DEFAULT_TIMEFRAME)
        if found is not None:
            there = f"{DEFAULT_SYMBOL} {DEFAULT_TIMEFRAME}"
            return found, f"there are no candles for {symbol} {timeframe}; this ran on {there}"
    listed = ", ".join(f"{symbol} {timeframe}" for symbol, timeframe in candles.available()[:20]) or "none"
    raise NotFoundError(f"there are no candles for {symbol} {timeframe}; there are: {listed}", field="symbol")


def _check_length(bars: Columns) -> None:
    if len(bars.ts) > MAX_BARS:
        raise TooLargeError(f"{len(bars.ts)} bars are more than {MAX_BARS}; narrow since and until", field="since")
    if len(bars.ts) < MIN_BARS:
        raise InvalidInputError(f"{len(bars.ts)} bars are too few between since and until", field="since")


def _driver() -> str:
    return files("satchel.strategies").joinpath("guest/driver.py").read_text(encoding="utf-8")


def _inputs(
    request: BacktestRequest, strategy: StrategyVersion, bars: Columns, trials: list[dict[str, Any]]
) -> dict[str, Any]:
    names = ("ts", "open", "high", "low", "close", "volume")
    return {
        "strategy": strategy.code,
        "class": strategy.metadata["class"],
        "candles": {name: getattr(bars, name) for name in names},
        "cash": float(request.cash),
        "commission": float(request.commission),
        "trials": trials,
    }


def _answer(result: SandboxResult) -> dict[str, Any]:
    """What the driver left, or why there is nothing."""
    if result.status == "time_limit":
        raise DeadlineError(f"the backtest did not end in {_LIMITS.time_s:.0f} s; take fewer bars or combinations")
    if result.status == "crashed":
        raise UnavailableError("the sandbox ended before the backtest did; try again")
    value: Any = result.value
    if result.status != "ok" or not isinstance(value, dict):
        raise InvalidInputError(f"the strategy fails: {_last_line(result)}", field="strategy")
    return cast("dict[str, Any]", value)


def _last_line(result: SandboxResult) -> str:
    """The error and the strategy's line it happened at."""
    if result.status != "error":
        return result.status.replace("_", " ")
    lines = result.stderr.strip().splitlines()
    places = [line.strip() for line in lines if '"<strategy>"' in line]
    where = f" ({places[-1].removeprefix('File ').replace(chr(34), '')})" if places else ""
    return (lines[-1] if lines else "it raised an error")[:500] + where


@dataclass(frozen=True, slots=True)
class _Selection:
    """The run that was picked, among those of this request."""

    trials: list[tuple[str, float | None]]
    best: Moments | None

    def judged(self, sharpes: list[float]) -> dict[str, Any]:
        """What is left of it once all that were ever tried are counted."""
        return {
            "trials_in_this_run": len(self.trials),
            "trials_ever": len(sharpes),
            "sharpe_per_bar": self.best.sharpe if self.best else None,
            "expected_best_by_luck": expected_best_sharpe(sharpes),
            "deflated_sharpe": deflated_sharpe(self.best, sharpes) if self.best else None,
        }


def _selection(strategy: StrategyVersion, setting: list[str], answer: Mapping[str, Any]) -> _Selection:
    """The trials by a key that is the same for the same code, data, costs and parameters."""
    trials: list[tuple[str, float | None]] = []
    best: Moments | None = None
    for trial in answer["trials"]:
        text = json.dumps([strategy.hash, setting, trial["params"]], sort_keys=True)
        sharpe = trial["moments"]["sharpe"]
        trials.append((hashlib.sha256(text.encode()).hexdigest(), None if sharpe is None else float(sharpe)))
        if trial["params"] == answer["params"] and sharpe is not None:
            best = Moments(**trial["moments"])
    return _Selection(trials, best)


def _report(
    request: BacktestRequest, strategy: StrategyVersion, candle_set: CandleSet, bars: Columns, answer: Mapping[str, Any]
) -> dict[str, Any]:
    stats = answer["stats"]
    return {
        "strategy": {"name": strategy.name, "version": strategy.version, "hash": strategy.hash},
        "request": _request_json(request, answer["params"]),
        "stats": stats,
        "undefined": answer["undefined"],
        "lookahead": "not_found" if answer["lookahead"] == "not_found" else "suspected",
        "lookahead_reason": answer["lookahead_reason"],
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
            "lookahead": "not_found" if answer["lookahead"] == "not_found" else "suspected",
        },
    }


def _request_json(request: BacktestRequest, params: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "params": params,
        "cash": format(request.cash, "f"),
        "commission": format(request.commission, "f"),
        "fills": "at the next bar's open",
    }


def _data_json(candle_set: CandleSet, bars: Columns, note: str | None) -> dict[str, Any]:
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


def _equity_rows(bars: Columns, curve: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    return [
        {"ts": ts, "equity": equity, "drawdown": drawdown}
        for ts, equity, drawdown in zip(bars.ts, curve["equity"], curve["drawdown"], strict=True)
    ]
