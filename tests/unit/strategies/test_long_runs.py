"""When a backtest is run at once and when it becomes a job."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from satchel.errors import DeadlineError, InvalidInputError
from satchel.market.candles import CandleSet, Columns, FoundSet
from satchel.strategies.backtest import Plan, run_or_submit
from satchel.strategies.request import BacktestRequest
from satchel.strategies.versions import StrategyVersion

NOW = datetime(2025, 6, 1, 12, 30, tzinfo=UTC)
REQUEST = BacktestRequest(
    strategy="가",
    params={"n": [1, 2]},
    symbol=None,
    timeframe="1d",
    since=NOW,
    until=None,
    cash=Decimal("10000.50"),
    commission=Decimal("0.001"),
)


def plan(bars=10, trials=1):
    columns = Columns(list(range(bars)), [], [], [], [], [])
    version = StrategyVersion("가", 7, "", "", {}, NOW)
    return Plan(REQUEST, version, FoundSet("", CandleSet("p", "X", "1d", "s", "l")), columns, [{}] * trials, None)


def ask(of, *, seconds_left=29.0, run=lambda limits: limits):
    submitted = []

    def submit(request):
        submitted.append(request)
        return "job"

    return run_or_submit(of, seconds_left=seconds_left, run=run, submit=submit), submitted


def test_a_short_one_runs_at_once_within_the_time_there_is():
    assert ask(plan())[0].time_s == 20.0
    assert ask(plan(), seconds_left=16.0)[0].time_s == 10.0


@pytest.mark.parametrize(("bars", "trials"), [(50_001, 1), (50_000, 7)])
def test_a_long_one_becomes_a_job_of_the_version_there_is_now(bars, trials):
    answer, (pinned,) = ask(plan(bars, trials), run=lambda _limits: pytest.fail("it was run"))
    assert (answer, pinned.version) == ("job", 7)


def test_one_that_does_not_end_in_time_becomes_a_job():
    def late(limits):
        raise DeadlineError("late")

    assert ask(plan(), run=late)[0] == "job"


def test_where_hardly_any_time_is_left_it_becomes_a_job():
    assert ask(plan(), seconds_left=8.0)[0] == "job"


def test_a_strategy_that_fails_makes_no_job():
    def fail(limits):
        raise InvalidInputError("the strategy fails")

    with pytest.raises(InvalidInputError):
        ask(plan(), run=fail)


def test_a_request_is_the_same_after_it_was_kept():
    again = BacktestRequest.from_json(plan().pinned.as_json())
    assert again == plan().pinned
    assert again.digest() == plan().pinned.digest() != REQUEST.digest()
