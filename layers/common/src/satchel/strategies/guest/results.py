"""What came out of a run, as JSON data in units."""

import math

import numpy as np
import pandas as pd
from desk_library import PIECES


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
