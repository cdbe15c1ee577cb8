"""Against the numerical example of Bailey and López de Prado (2014), and by simulation."""

import random
from statistics import fmean

import pytest

from satchel.strategies.deflated import Moments, deflated_sharpe, expected_best_sharpe


def with_spread(count, spread):
    """`count` ratios whose sample variance is `spread` squared."""
    half = [-1.0, 1.0] * (count // 2)
    scale = spread * ((count - 1) / count) ** 0.5
    return [value * scale for value in half]


def test_the_papers_example():
    # 100 trials whose annual Sharpe ratios have variance 1/2, the best 2.5, five years of 250 days, skewness -3,
    # kurtosis 10: the expected best is 0.1132 a day and the deflated ratio 0.9004.
    sharpes = with_spread(100, (0.5 / 250) ** 0.5)
    assert expected_best_sharpe(sharpes) == pytest.approx(0.1132, abs=1e-4)
    best = Moments(count=1250, sharpe=2.5 / 250**0.5, skewness=-3, kurtosis=10)
    assert deflated_sharpe(best, sharpes) == pytest.approx(0.9004, abs=2e-4)


def test_the_expected_best_is_what_luck_reaches():
    chance = random.Random(7)
    best = fmean(max(chance.gauss(0, 1) for _ in range(50)) for _ in range(2000))
    assert expected_best_sharpe(with_spread(50, 1.0)) == pytest.approx(best, abs=0.05)


def test_a_single_trial_is_no_selection():
    assert expected_best_sharpe([0.3]) == 0.0
    assert deflated_sharpe(Moments(count=100, sharpe=0.0, skewness=0, kurtosis=3), [0.0]) == pytest.approx(0.5)


def test_more_trials_leave_less():
    best = Moments(count=500, sharpe=0.1, skewness=0, kurtosis=3)
    few, many = (deflated_sharpe(best, with_spread(count, 0.03)) for count in (4, 400))
    assert many < few


def test_too_few_returns_have_no_answer():
    assert deflated_sharpe(Moments(count=1, sharpe=1.0, skewness=0, kurtosis=3), [1.0]) is None
    assert deflated_sharpe(Moments(count=9, sharpe=2.0, skewness=3, kurtosis=3), [1.0]) is None
