"""How much of a Sharpe ratio is left once one counts how many were tried.

Source: D. H. Bailey and M. López de Prado, "The Deflated Sharpe Ratio: Correcting for Selection Bias, Backtest
Overfitting and Non-Normality", Journal of Portfolio Management 40 (5), 2014.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, variance

_EULER = 0.5772156649015329
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Moments:
    """The returns per bar of one run: number, Sharpe ratio (not annualised), skewness, kurtosis (3 for the normal)."""

    count: int
    sharpe: float
    skewness: float
    kurtosis: float


def expected_best_sharpe(sharpes: Sequence[float]) -> float:
    """The Sharpe ratio that the best of so many worthless trials is expected to reach (0 for a single one)."""
    trials = len(sharpes)
    if trials < 2:  # noqa: PLR2004 - one trial is no selection
        return 0.0
    first = _NORMAL.inv_cdf(1 - 1 / trials)
    second = _NORMAL.inv_cdf(1 - 1 / (trials * math.e))
    return math.sqrt(variance(sharpes)) * ((1 - _EULER) * first + _EULER * second)


def deflated_sharpe(best: Moments, sharpes: Sequence[float]) -> float | None:
    """The probability, in [0, 1], that the best run's true Sharpe ratio is above what luck explains.

    Args:
        best: The run that was selected.
        sharpes: The ratio per bar of every run that was tried, the best included.

    Returns:
        None where the returns are too few, or of a shape for which the estimate has no variance.
    """
    if best.count < 2:  # noqa: PLR2004 - no variance
        return None
    spread = 1 - best.skewness * best.sharpe + (best.kurtosis - 1) / 4 * best.sharpe**2
    if spread <= 0:
        return None
    excess = best.sharpe - expected_best_sharpe(sharpes)
    return _NORMAL.cdf(excess * math.sqrt(best.count - 1) / math.sqrt(spread))
