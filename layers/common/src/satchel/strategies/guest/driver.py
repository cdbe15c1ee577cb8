"""Runs a strategy over bars inside the sandbox: the program that a backtest is.

It finds `inputs` (strategy, candles, cash, commission, parameters, trials, modules) and leaves the answer as its
last value. It and its modules are handed to the sandbox as text.
"""

import math
import sys
import types
import warnings

import numpy as np
import pandas as pd

from __main__ import inputs

for name, text in inputs["modules"].items():
    sys.modules[name] = types.ModuleType(name)
    exec(compile(text, f"<{name}>", "exec"), sys.modules[name].__dict__)

from desk_library import PIECES, backtesting, without_statistics  # noqa: E402 - made just now
from desk_lookahead import look_ahead  # noqa: E402
from desk_results import equity_of, moments, number, statistics, trades_of  # noqa: E402


def load_strategy(code, name):
    """The class `name` of the strategy's module."""
    module = types.ModuleType("strategy")
    sys.modules["strategy"] = module
    exec(compile(code, "<strategy>", "exec"), module.__dict__)
    return getattr(module, name)


def frame(candles):
    """The bars as the library takes them; 64-bit, since volumes pass the 32 bits of this Python."""
    index = pd.to_datetime(np.asarray(candles["ts"], dtype="int64"), unit="s")
    names = ("open", "high", "low", "close", "volume")
    return pd.DataFrame({name.title(): np.asarray(candles[name], dtype="float64") for name in names}, index=index)


def defaults(strategy):
    """What the class has for the parameters that a run may set, where JSON can tell it."""
    values = {name: getattr(strategy, name, None) for name in inputs["parameters"]}
    return {
        name: value
        for name, value in values.items()
        if isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value))
    }


def run(strategy, data, params):
    """One run; the library's statistics, and the strategy with its indicators and the noted orders."""
    test = backtesting.Backtest(
        data, strategy, cash=inputs["cash"] * PIECES, commission=inputs["commission"], finalize_trades=True
    )
    return test.run(**params)


def main():
    """Run every combination, keep the best by Sharpe ratio, and check that one for look-ahead."""
    warnings.simplefilter("ignore")
    strategy = load_strategy(inputs["strategy"], inputs["class"])
    data = frame(inputs["candles"])
    best, best_params, trials = None, None, []
    own = defaults(strategy)
    for params in inputs["trials"]:
        stats = run(strategy, data, params)
        measured = moments(stats)
        trials.append(
            {
                "params": own | params,
                "moments": measured,
                "return_pct": number(stats["Return [%]"]),
                "trades": int(stats["# Trades"]),
            }
        )
        rank = -math.inf if measured["sharpe"] is None else measured["sharpe"]
        if best is None or rank > best[0]:
            best, best_params = (rank, stats), params
    stats = best[1]
    with without_statistics():
        verdict, reason, places = look_ahead(lambda bars: run(strategy, bars, best_params), data, stats)
    shown, reasons = statistics(stats)
    return {
        "stats": shown,
        "undefined": reasons,
        "params": own | best_params,
        "trials": trials,
        "trades": trades_of(stats),
        "curve": equity_of(stats),
        "lookahead": verdict,
        "lookahead_reason": reason,
        "lookahead_places": places,
        "library": f"backtesting {backtesting.__version__}",
    }


main()
