"""Runs a strategy over bars inside the sandbox: the program that a backtest is.

It finds `inputs` (strategy, candles, cash, commission, trials) and leaves the answer as its last value. It is handed
to the sandbox as text. backtesting.py (AGPL) is imported here, inside the sandbox, and nowhere else.
"""

import math
import random
import sys
import types
import warnings

import numpy as np
import pandas as pd

from __main__ import inputs

# The library counts whole units. A unit is cut into this many, and everything the strategy sees is put together
# again, so that fractions of an expensive thing can be held and stops keep their natural prices.
PIECES = 1_000_000
# Bars over which the check for look-ahead runs, and where in them the future is changed.
CHECKED_BARS = 1_500
CUTS = (0.35, 0.6, 0.85)


def load_library():
    """Import backtesting.py, with stand-ins for what this Python lacks: processes, and plotting in a browser."""
    for name in ("resource_tracker", "shared_memory"):
        module = types.ModuleType(f"multiprocessing.{name}")
        module.SharedMemory = object
        sys.modules.setdefault(f"multiprocessing.{name}", module)
        import multiprocessing

        setattr(multiprocessing, name, sys.modules[f"multiprocessing.{name}"])
    plotting = types.ModuleType("backtesting._plotting")
    plotting.plot = plotting.plot_heatmaps = plotting.set_bokeh_output = lambda *_args, **_options: None
    sys.modules["backtesting._plotting"] = plotting
    import backtesting

    return backtesting


backtesting = load_library()
engine = sys.modules["backtesting.backtesting"]


class View:
    """A trade or order as the strategy sees it: in units, not in pieces."""

    def __init__(self, item):
        object.__setattr__(self, "_item", item)

    def __getattr__(self, name):
        value = getattr(self._item, name)
        return value / PIECES if name in ("size", "pl", "value") else value

    def __setattr__(self, name, value):
        setattr(self._item, name, value)


def in_units(name):
    """A property of the strategy that shows its trades or orders in units."""
    return property(lambda self: tuple(View(item) for item in getattr(self._broker, name)))


def placing(method):
    """`buy` and `sell` that take units and note what was ordered at which bar."""

    def place(self, *, size=engine.Strategy._FULL_EQUITY, **options):
        note(self._broker, method.__name__, size, *(options.get(name) for name in ("limit", "stop", "sl", "tp")))
        return method(self, size=size if size < 1 else round(size * PIECES), **options)

    return place


def noting_close(method):
    """`close` that notes which trade was closed at which bar."""

    def close(self, portion=1.0):
        note(self._Trade__broker, "close", self.entry_bar, portion)
        return method(self, portion)

    return close


def note(broker, *what):
    """Remember an order with the bar it was placed at."""
    order = [float(part) if part and not isinstance(part, str) else part for part in what]
    broker.__dict__.setdefault("noted", []).append((len(broker._data) - 1, *order))


def adapt_library():
    """Make the library count in units, note orders, and print no progress."""
    engine._tqdm = lambda bars, **_options: bars
    strategy, position = engine.Strategy, engine.Position
    strategy.buy, strategy.sell = placing(strategy.buy), placing(strategy.sell)
    engine.Trade.close = noting_close(engine.Trade.close)
    strategy.equity = property(lambda self: self._broker.equity / PIECES)
    for name in ("trades", "closed_trades", "orders"):
        setattr(strategy, name, in_units(name))
    broker = "_Position__broker"
    position.size = property(lambda self: getattr(self, broker)._position_size / PIECES)
    position.pl = property(lambda self: getattr(self, broker)._position_unrealized_pl / PIECES)
    position.pl_pct = property(
        lambda self: (
            getattr(self, broker)._position_unrealized_pl / (getattr(self, broker)._position_initial_value or 1) * 100
        )
    )


adapt_library()


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


def run(strategy, data, params):
    """One run; the library's statistics, and the strategy with its indicators and the noted orders."""
    test = backtesting.Backtest(
        data, strategy, cash=inputs["cash"] * PIECES, commission=inputs["commission"], finalize_trades=True
    )
    return test.run(**params)


# ---------------------------------------------------------------- look-ahead


def changed_future(data, last):
    """`data` with every bar after `last` replaced by other plausible prices; the same on every call."""
    chance = random.Random(last)
    changed = data.copy()
    level = float(data["Close"].iloc[last])
    prices = []
    for _ in range(last + 1, len(data)):
        close = level * math.exp(chance.gauss(0, 0.05))
        high, low = max(level, close) * 1.02, min(level, close) * 0.98
        prices.append((level, high, low, close, chance.uniform(1, 1e6)))
        level = close
    changed.iloc[last + 1 :] = prices
    return changed


def seen(stats, last):
    """What the strategy knew and did up to bar `last`."""
    strategy = stats._strategy
    noted = [item for item in strategy._broker.__dict__.get("noted", []) if item[0] <= last]
    lines = [(str(line.name), np.atleast_2d(np.asarray(line, dtype="float64"))) for line in strategy._indicators]
    return noted, [(name, values[:, : last + 1]) for name, values in lines]


def difference(before, after):
    """A sentence on the first thing that the future changed, or None."""
    if len(before[1]) != len(after[1]):
        return "how many indicators there are depends on later bars"
    for (name, values), (_, other) in zip(before[1], after[1]):
        if other.shape != values.shape:
            return f"the length of the indicator {name} depends on later bars"
        unlike = ~np.isclose(values, other, rtol=1e-9, atol=1e-12, equal_nan=True)
        if unlike.any():
            return f"the indicator {name} at bar {int(np.argwhere(unlike)[0][1])} depends on later bars"
    if before[0] != after[0]:
        pairs = zip([*before[0], None], [*after[0], None])
        first = next((a or b) for a, b in pairs if a != b)
        return f"an order at bar {first[0]} depends on later bars"
    return None


def look_ahead(strategy, data, params):
    """Change or drop the future at some bars; nothing up to them may change. (verdict, reason)."""
    data = data.iloc[:CHECKED_BARS]
    try:
        before = run(strategy, data, params)
    except Exception as error:
        return "suspected", f"it fails on the first {len(data)} bars alone ({type(error).__name__})"
    noted = sorted({item[0] for item in before._strategy._broker.__dict__.get("noted", [])})
    cuts = {int(len(data) * share) for share in CUTS}
    # Where it acted is where it may have known too much.
    cuts |= {noted[int(len(noted) * share)] for share in CUTS} if noted else set()
    for last in sorted(cut for cut in cuts if 1 <= cut < len(data) - 1):
        for future in (changed_future(data, last), data.iloc[: last + 2]):
            reason = changed_by(future, last, before, strategy, params)
            if reason:
                return "suspected", f"{reason} (changed after bar {last})"
    return "not_found", None


def changed_by(future, last, before, strategy, params):
    """What another future after bar `last` changes up to it, or None."""
    try:
        return difference(seen(before, last), seen(run(strategy, future, params), last))
    except (IndexError, KeyError) as error:
        # Reaching for bars that are not there yet; other errors may well come from the other prices themselves.
        return f"it fails without later bars ({type(error).__name__})" if len(future) == last + 2 else None
    except Exception:
        return None


# ---------------------------------------------------------------- answers


def number(value):
    """A finite number, or None."""
    value = float(value)
    return value if math.isfinite(value) else None


def text_or_number(value):
    """Times and durations as ISO-8601, all else as a number."""
    if isinstance(value, (pd.Timestamp, pd.Timedelta)):
        return None if pd.isna(value) else value.isoformat() + ("Z" if isinstance(value, pd.Timestamp) else "")
    return number(value)


def statistics(stats):
    """The library's statistics in units, undefined ones null, and why."""
    shown, reasons = {}, {}
    trades = int(stats["# Trades"])
    for name, value in stats.items():
        if name.startswith("_"):
            continue
        value = text_or_number(value)
        if isinstance(value, float) and name.endswith("[$]"):
            value /= PIECES
        shown[name] = value
        if value is None:
            reasons[name] = "no trades" if not trades else "no variance or no losing trade to divide by"
    return shown, reasons


def moments(stats):
    """Number, mean over deviation, skewness and kurtosis of the returns per bar."""
    equity = stats._equity_curve["Equity"].to_numpy()
    returns = np.diff(equity) / equity[:-1]
    returns = returns[np.isfinite(returns)]
    spread = returns.std(ddof=1) if len(returns) > 1 else 0.0
    if not spread > 0:
        return {"count": int(len(returns)), "sharpe": None, "skewness": None, "kurtosis": None}
    centred = (returns - returns.mean()) / returns.std()
    return {
        "count": int(len(returns)),
        "sharpe": float(returns.mean() / spread),
        "skewness": float((centred**3).mean()),
        "kurtosis": float((centred**4).mean()),
    }


def trades_of(stats):
    """Every closed trade, oldest exit first."""
    table = stats._trades
    columns = {
        "entry_at": [moment.isoformat() + "Z" for moment in table["EntryTime"]],
        "exit_at": [moment.isoformat() + "Z" for moment in table["ExitTime"]],
        "entry_bar": table["EntryBar"].tolist(),
        "exit_bar": table["ExitBar"].tolist(),
        "entry_price": table["EntryPrice"].tolist(),
        "exit_price": table["ExitPrice"].tolist(),
        "return": table["ReturnPct"].tolist(),
        "size": (table["Size"] / PIECES).tolist(),
        "pnl": (table["PnL"] / PIECES).tolist(),
        "commission": (table["Commission"] / PIECES).tolist(),
    }
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def equity_of(stats):
    """Equity and drawdown (a share of the peak, 0 or more) at every bar."""
    curve = stats._equity_curve
    return {"equity": (curve["Equity"] / PIECES).round(8).tolist(), "drawdown": curve["DrawdownPct"].round(10).tolist()}


def main():
    """Run every combination, keep the best by Sharpe ratio, and check that one for look-ahead."""
    warnings.simplefilter("ignore")
    strategy = load_strategy(inputs["strategy"], inputs["class"])
    data = frame(inputs["candles"])
    best, best_params, trials = None, None, []
    for params in inputs["trials"]:
        stats = run(strategy, data, params)
        measured = moments(stats)
        trials.append(
            {
                "params": params,
                "moments": measured,
                "return_pct": number(stats["Return [%]"]),
                "trades": int(stats["# Trades"]),
            }
        )
        rank = -math.inf if measured["sharpe"] is None else measured["sharpe"]
        if best is None or rank > best[0]:
            best, best_params = (rank, stats), params
    stats = best[1]
    verdict, reason = look_ahead(strategy, data, best_params)
    shown, reasons = statistics(stats)
    return {
        "stats": shown,
        "undefined": reasons,
        "params": best_params,
        "trials": trials,
        "trades": trades_of(stats),
        "curve": equity_of(stats),
        "lookahead": verdict,
        "lookahead_reason": reason,
        "library": f"backtesting {backtesting.__version__}",
    }


main()
