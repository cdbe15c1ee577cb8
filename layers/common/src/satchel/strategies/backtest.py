"""Running a backtest: choose the bars, run the strategy in the sandbox, keep what came out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.resources import files
from typing import Any, Protocol, cast

from satchel.errors import DeadlineError, InvalidInputError, NotFoundError, TooLargeError, UnavailableError
from satchel.market.candles import Columns, FoundSet, check_timeframe
from satchel.sandbox.model import MIB, Limits, SandboxEngine, SandboxResult
from satchel.strategies.report import data_json, equity_rows, report_of, selection_of
from satchel.strategies.request import BacktestRequest, combinations
from satchel.strategies.versions import StrategyVersion

MIN_BARS = 3
TRADES_SHOWN = 5
DEFAULT_SYMBOL = "AAPL"
DEFAULT_TIMEFRAME = "1d"
# For storing what came out, or handing it on as a job; and what is not worth beginning with. In seconds.
_RESERVE_S = 6.0
_LEAST_S = 3.0


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


@dataclass(frozen=True, slots=True)
class RunLimits:
    """How much one backtest may be.

    Attributes:
        bars: The most bars.
        steps: The most bars times combinations.
        time_s: The longest it may take in the sandbox, in seconds.
        value_bytes: The longest answer of the sandbox.
    """

    bars: int
    steps: int
    time_s: float
    value_bytes: int


# A crossover takes about 20 µs a bar on a machine that is idle; what is more than this is a job from the start.
AT_ONCE = RunLimits(bars=50_000, steps=300_000, time_s=20.0, value_bytes=32 * MIB)
AS_JOB = RunLimits(bars=200_000, steps=10_000_000, time_s=240.0, value_bytes=64 * MIB)


@dataclass(frozen=True, slots=True)
class Plan:
    """A backtest that is ready to run: which code over which bars with which parameters."""

    request: BacktestRequest
    strategy: StrategyVersion
    found: FoundSet
    bars: Columns
    trials: list[dict[str, Any]]
    note: str | None

    def fits(self, limits: RunLimits) -> bool:
        """Whether it is within `limits`, as far as can be told before it runs."""
        return len(self.bars.ts) <= limits.bars and len(self.bars.ts) * len(self.trials) <= limits.steps

    @property
    def pinned(self) -> BacktestRequest:
        """The request with the version that would run now, so that it is the same whenever it runs."""
        return replace(self.request, version=self.strategy.version)


def plan_backtest(request: BacktestRequest, *, store: BacktestStore, candles: CandleSource) -> Plan:
    """Find the strategy and the bars of a request.

    Raises:
        NotFoundError: There is no such strategy, or there are no candles for a symbol that was named.
        InvalidInputError: The parameters are not the strategy's, or there are fewer than three bars.
        TooLargeError: Over 50 combinations, 200,000 bars, or 10,000,000 bars times combinations.
    """
    strategy = store.version(request.strategy, request.version)
    if strategy is None:
        raise NotFoundError("there is no strategy of this name", field="strategy")
    trials = combinations(request.params, strategy.metadata)
    found, note = _choose(request, strategy, candles)
    plan = Plan(request, strategy, found, candles.columns(found, request.since, request.until), trials, note)
    count = len(plan.bars.ts)
    if count < MIN_BARS:
        raise InvalidInputError(f"{count} bars are too few between since and until", field="since")
    if not plan.fits(AS_JOB):
        told = f"{count} bars, {len(trials)} times, are more than {AS_JOB.bars} bars or {AS_JOB.steps} steps in all"
        raise TooLargeError(f"{told}; narrow since and until", field="since")
    return plan


def run_plan(
    plan: Plan,
    *,
    backtest_id: str,
    limits: RunLimits,
    store: BacktestStore,
    engine: SandboxEngine,
    clock: Callable[[], datetime],
) -> Backtest:
    """Run and store a backtest.

    Orders that a strategy places at a bar are filled at the next bar's open. Of a sweep, the run with the best Sharpe
    ratio per bar is kept whole, beside how many were ever tried of this strategy and what that leaves of its ratio.

    Raises:
        InvalidInputError: The strategy fails while it runs, or breaks its own report.
        DeadlineError: It does not end in time.
        UnavailableError: No sandbox can run here.
    """
    request, strategy, bars, candle_set = plan.request, plan.strategy, plan.bars, plan.found.candles
    sandbox_limits = Limits(
        time_s=limits.time_s,
        memory_bytes=768 * MIB,
        value_bytes=limits.value_bytes,
        output_bytes=16 * 1024,
        artefacts=0,
    )
    result = engine.run(program(), _inputs(plan), sandbox_limits)
    answer = _answer(result, limits)
    now = clock()
    try:
        data = data_json(candle_set, bars, plan.note)
        selection = selection_of(strategy, [candle_set.symbol, data["sha256"], str(request.commission)], answer)
        sections = {"trades": list(answer["trades"]), "equity": equity_rows(bars, answer["curve"])}
        report = report_of(request, strategy, candle_set, bars, answer) | {
            "data": data,
            "engine": {"library": answer["library"], "layers": list(result.layers), "duration_ms": result.duration_ms},
        }
        sharpes = store.put_trials(strategy.name, selection.trials, now)
        report["selection"] = selection.judged(sharpes)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        # The driver's answer passed through the strategy's own process, which can write what it likes there.
        raise InvalidInputError("the strategy breaks its own report", field="strategy") from error
    store.put_backtest(backtest_id, strategy, report, sections, now)
    return Backtest(backtest_id, report, sections["trades"][:TRADES_SHOWN])


def run_or_submit(
    plan: Plan,
    *,
    seconds_left: float,
    run: Callable[[RunLimits], Backtest],
    submit: Callable[[BacktestRequest], str],
) -> Backtest | str:
    """The backtest, or the id of the job that it has become because it is long.

    Args:
        plan: What to run.
        seconds_left: How long we have.
        run: Runs it now.
        submit: Makes a job of it and returns the job's id.
    """
    time_s = min(AT_ONCE.time_s, seconds_left - _RESERVE_S)
    if plan.fits(AT_ONCE) and time_s >= _LEAST_S:
        try:
            return run(replace(AT_ONCE, time_s=time_s))
        except DeadlineError:
            pass
    return submit(plan.pinned)


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


def program() -> str:
    """The program that a backtest is."""
    return _guest("driver")


def modules() -> dict[str, str]:
    """The modules that the program needs beside the library, in the order in which they are made."""
    return {f"desk_{name}": _guest(name) for name in ("library", "lookahead", "results")}


def _guest(name: str) -> str:
    return files("satchel.strategies").joinpath(f"guest/{name}.py").read_text(encoding="utf-8")


def _inputs(plan: Plan) -> dict[str, Any]:
    names = ("ts", "open", "high", "low", "close", "volume")
    return {
        "modules": modules(),
        "strategy": plan.strategy.code,
        "class": plan.strategy.metadata["class"],
        "candles": {name: getattr(plan.bars, name) for name in names},
        "cash": float(plan.request.cash),
        "commission": float(plan.request.commission),
        "parameters": sorted(plan.strategy.metadata["params"]),
        "trials": plan.trials,
    }


def _answer(result: SandboxResult, limits: RunLimits) -> dict[str, Any]:
    """What the driver left, or why there is nothing."""
    if result.status == "time_limit":
        raise DeadlineError(f"the backtest did not end in {limits.time_s:.0f} s; take fewer bars or combinations")
    if result.status == "crashed":
        raise UnavailableError("the sandbox ended before the backtest did; try again", retry_after_s=5)
    value: Any = result.value
    if result.status != "ok" or not isinstance(value, dict):
        raise InvalidInputError(f"the strategy fails: {_last_line(result)}", field="strategy")
    return cast("dict[str, Any]", value)


def _last_line(result: SandboxResult) -> str:
    """The error and the strategy's line it happened at."""
    if result.status == "ok":
        return "it ended its process, or wrote over its report"
    if result.status != "error":
        return result.status.replace("_", " ")
    lines = result.stderr.strip().splitlines()
    places = [line.strip() for line in lines if '"<strategy>"' in line]
    where = f" ({places[-1].removeprefix('File ').replace(chr(34), '')})" if places else ""
    return (lines[-1] if lines else "it raised an error")[:500] + where
