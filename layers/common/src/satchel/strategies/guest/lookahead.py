"""Whether a strategy knows what it cannot know: another future must change nothing before it."""

import math
import random

import numpy as np

# The first bars are checked closely, at these shares of them. For later ones the strategy runs again from the start, so
# that their number is bounded: about this many bars in all, at up to so many shares of the run.
FIRST_BARS = 1_500
CUTS = (0.35, 0.6, 0.85)
LATER_BARS = 100_000
MOST_LATER = 3
# How much of another future it is shown.
FUTURE_BARS = 150


def another(data, last):
    """`data` up to `last`, and then a while of other plausible prices; the same on every call."""
    chance = random.Random(last)
    changed = data.iloc[: last + 1 + FUTURE_BARS].copy()
    level = float(data["Close"].iloc[last])
    prices = []
    for _ in range(last + 1, len(changed)):
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


def look_ahead(run, data, whole):
    """Change or drop the future at some bars; nothing up to them may change.

    Args:
        run: Runs the strategy over bars.
        data: All bars.
        whole: The run over all of them.

    Returns:
        The verdict, the reason, and the bars after which the future was changed.
    """
    begun = data.iloc[:FIRST_BARS]
    try:
        before = run(begun)
    except Exception as error:
        return "suspected", f"it fails on the first {len(begun)} bars alone ({type(error).__name__})", []
    checks = [
        (last, before, future)
        for last in cuts(before, 1, len(begun) - 1, CUTS)
        for future in (another(begun, last), begun.iloc[: last + 2])
    ]
    if len(data) > FIRST_BARS:
        count = max(1, min(MOST_LATER, LATER_BARS // len(data)))
        shares = [(place + 1) / (count + 1) for place in range(count)]
        checks += [(last, whole, another(data, last)) for last in cuts(whole, FIRST_BARS, len(data) - 1, shares)]
    for last, known, future in checks:
        reason = changed_by(run, future, last, known)
        if reason:
            return "suspected", f"{reason} (changed after bar {last})", places(checks)
    return "not_found", None, places(checks)


def places(checks):
    """The bars that checks are about, in order."""
    return sorted({last for last, _, _ in checks})


def cuts(stats, first, end, shares):
    """Bars from `first` up to `end` at these shares of them, and of those at which the strategy acted."""
    noted = sorted({item[0] for item in stats._strategy._broker.__dict__.get("noted", []) if first <= item[0] < end})
    found = {first + int((end - first) * share) for share in shares}
    # Where it acted is where it may have known too much.
    found |= {noted[int(len(noted) * share)] for share in shares} if noted else set()
    return sorted(cut for cut in found if first <= cut < end)


def changed_by(run, future, last, before):
    """What another future after bar `last` changes up to it, or None."""
    try:
        return difference(seen(before, last), seen(run(future), last))
    except (IndexError, KeyError) as error:
        # Reaching for bars that are not there yet; other errors may well come from the other prices themselves.
        return f"it fails without later bars ({type(error).__name__})" if len(future) == last + 2 else None
    except Exception:
        return None
