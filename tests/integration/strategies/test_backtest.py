"""Backtests in the real sandbox, on bars small enough to check by hand and on real ones."""

import base64
import json
from datetime import UTC, datetime
from decimal import Decimal
from itertools import count
from pathlib import Path

import pytest

from satchel.errors import DeadlineError, InvalidInputError, NotFoundError
from satchel.market.candles import Candle, CandleSet
from satchel.market.seeding import seed_sets
from satchel.market.store import EVERYBODY, CandleStore
from satchel.sandbox.model import SandboxResult
from satchel.strategies.backtest import AT_ONCE, plan_backtest, run_plan
from satchel.strategies.request import BacktestRequest
from satchel.strategies.results import read_results, read_strategy_context
from satchel.strategies.store import StrategyStore
from satchel.strategies.versions import write_strategy
from tests.conftest import direct

NOW = datetime(2025, 6, 1, tzinfo=UTC)
# The bars of the open bug on look-ahead (open, high, low, close).
FOUR = [(100, 101, 99, 100), (100, 111, 100, 110), (112, 112, 107, 108), (108, 108, 106, 107)]
HOLD_WHILE_UP = """
from backtesting import Strategy


class Hold(Strategy):
    def init(self):
        pass

    def next(self):
        up = self.data.Close[-1] > self.data.Open[-1]
        if up and not self.position:
            self.buy(size=1)
        elif not up and self.position:
            self.position.close()
"""
PEEKS_IN_INIT = """
import numpy as np
from backtesting import Strategy


class Peek(Strategy):
    def init(self):
        self.rises = self.I(lambda close: np.append(close[1:] > close[:-1], False).astype(float), self.data.Close)

    def next(self):
        if self.rises[-1] and not self.position:
            self.buy()
        elif not self.rises[-1]:
            self.position.close()
"""
PEEKS_IN_NEXT = """
from backtesting import Strategy


class Peek(Strategy):
    def init(self):
        self.all = list(self.data.Close)

    def next(self):
        here = len(self.data)
        if here < len(self.all) and self.all[here] > self.all[here - 1]:
            if not self.position:
                self.buy()
        else:
            self.position.close()
"""


class Desk:
    """A user's strategies and candles, and the sandbox."""

    def __init__(self, database, engine, user_id="alice"):
        self.store = StrategyStore(database, user_id)
        self.candles = CandleStore(database, user_id)
        self.engine = engine
        self._ids = count(1)

    def write(self, code, name="s"):
        return write_strategy(name, code, store=self.store, clock=lambda: NOW)

    def bars(self, rows, symbol="TEST"):
        bars = [
            Candle(datetime(2025, 1, day, tzinfo=UTC), *map(Decimal, row), Decimal(5_000_000_000))
            for day, row in enumerate(rows, 1)
        ]
        self.candles.replace(CandleSet("test", symbol, "1d", "made up, synthetic", "none", synthetic=True), bars, NOW)

    def run(self, name="s", **given):
        fields = {"params": {}, "symbol": "TEST", "timeframe": "1d", "since": None, "until": None}
        money = {"cash": Decimal(1000), "commission": Decimal(0)}
        request = BacktestRequest(strategy=name, **(fields | money | given))
        return run_plan(
            plan_backtest(request, store=self.store, candles=self.candles),
            backtest_id=f"b-{next(self._ids)}",
            limits=AT_ONCE,
            store=self.store,
            engine=self.engine,
            clock=lambda: NOW,
        )


@pytest.fixture
def desk(database, wasm):
    return Desk(database, wasm)


@pytest.fixture
def seeded(database):
    for candle_set, bars in seed_sets():
        if candle_set.symbol == "AAPL":
            CandleStore(database, EVERYBODY).replace(candle_set, bars, NOW)


def test_orders_fill_at_the_next_bars_open(desk):
    desk.write(HOLD_WHILE_UP)
    desk.bars(FOUR)
    backtest = desk.run()
    (trade,) = backtest.trades
    assert (trade["entry_price"], trade["exit_price"], trade["size"], trade["pnl"]) == (112.0, 108.0, 1.0, -4.0)
    assert backtest.report["stats"]["Equity Final [$]"] == 996.0
    assert backtest.report["lookahead"] == "not_found"
    assert backtest.report["data"]["synthetic"] is True


def test_a_strategy_takes_its_indicators_from_pandas_ta(desk):
    code = """
import pandas as pd
import pandas_ta_classic as ta
from backtesting import Strategy
class Above(Strategy):
    def init(self):
        self.mean = self.I(lambda close: ta.sma(pd.Series(close), 2), self.data.Close)
    def next(self):
        if self.data.Close[-1] > self.mean[-1]: self.buy(size=1)
        else: self.position.close()
"""
    desk.write(code)
    desk.bars([FOUR[0], *FOUR])
    backtest = desk.run()
    (trade,) = backtest.trades
    assert (trade["entry_price"], trade["exit_price"]) == (112.0, 108.0)
    assert backtest.report["lookahead"] == "not_found"


@pytest.mark.parametrize("rows", [[*FOUR[:3], (108, 1_000_000, 106, 1_000_000)], FOUR[:3]])
def test_what_happens_in_the_last_bar_changes_nothing_before_it(rows, desk):
    desk.write(HOLD_WHILE_UP)
    desk.bars(rows)
    (trade,) = desk.run().trades
    assert (trade["entry_at"], trade["entry_price"]) == ("2025-01-03T00:00:00Z", 112.0)


def test_fractions_of_a_thing_dearer_than_the_cash_are_traded_and_stops_keep_their_price(desk):
    code = """
from backtesting import Strategy
class Half(Strategy):
    def init(self): pass
    def next(self):
        if len(self.data) == 2: self.buy(size=0.5, sl=self.data.Close[-1] * 0.9)
        elif self.position:
            assert abs(self.position.size - 0.01) < 1e-5 and abs(self.trades[0].size - 0.01) < 1e-5
            assert 990 < self.equity < 1010
"""
    desk.write(code)
    desk.bars([(50_000, 50_000, 50_000, 50_000)] * 3 + [(50_000, 50_000, 44_000, 46_000)] * 2)
    (trade,) = desk.run().trades
    assert (trade["size"], trade["entry_price"], trade["exit_price"]) == (0.01, 50_000.0, 45_000.0)
    assert trade["pnl"] == pytest.approx(-50.0)


@pytest.mark.parametrize("code", [PEEKS_IN_INIT, PEEKS_IN_NEXT], ids=["in_init", "in_next"])
def test_a_strategy_that_knows_the_next_bar_is_suspected_with_a_reason(code, desk, seeded):
    desk.write(code)
    report = desk.run(symbol="AAPL", until=datetime(2002, 1, 1, tzinfo=UTC)).report
    assert report["lookahead"] == "suspected"
    assert "later bars" in report["lookahead_reason"]


PEEKS_LATE = PEEKS_IN_NEXT.replace("if here < len(self.all) and", "if here > 2_500 and here < len(self.all) and")


def test_what_is_known_too_early_only_late_in_the_run_is_found_too(desk, seeded):
    desk.write(PEEKS_LATE)
    report = desk.run(symbol="AAPL").report
    assert report["lookahead"] == "suspected"
    assert max(report["lookahead_places"]) > 2_500
    assert desk.run(symbol="AAPL", until=datetime(2005, 1, 1, tzinfo=UTC)).report["lookahead"] == "not_found"


def test_a_crossover_on_real_bars_is_not_suspected_and_names_its_data(desk, seeded):
    desk.write(json.loads(Path("events/write_strategy.json").read_text("utf-8"))["arguments"]["code"])
    report = desk.run(symbol=None, timeframe=None, cash=Decimal(10_000), commission=Decimal("0.001")).report
    assert report["lookahead"] == "not_found"
    assert (report["data"]["symbol"], report["data"]["bars"], report["data"]["licence"]) == (
        "AAPL",
        3270,
        "BSD-3-Clause",
    )
    assert report["data"]["note"] is None
    assert report["stats"]["# Trades"] > 100


def test_the_same_run_again_gives_the_same_result(desk, seeded):
    desk.write(PEEKS_IN_NEXT)
    until = datetime(2001, 1, 1, tzinfo=UTC)
    first, second = (desk.run(symbol="AAPL", until=until).report for _ in range(2))
    assert {**first, "engine": None} == {**second, "engine": None}


def test_undefined_statistics_are_null_with_a_reason(desk):
    desk.write(HOLD_WHILE_UP)
    desk.bars([(100, 100, 100, 100)] * 5)
    report = desk.run().report
    assert report["stats"]["Win Rate [%]"] is None
    assert report["undefined"]["Win Rate [%]"] == "no trades"
    assert report["selection"]["deflated_sharpe"] is None


def test_a_sweep_keeps_the_best_and_remembers_all_that_were_ever_tried(desk, seeded):
    code = """
from backtesting import Strategy
class Wait(Strategy):
    bars = 5
    def init(self): pass
    def next(self):
        if len(self.data) % self.bars == 0: self.position.close() if self.position else self.buy()
"""
    desk.write(code)
    given = {"symbol": "AAPL", "until": datetime(2001, 1, 1, tzinfo=UTC)}
    report = desk.run(params={"bars": [5, 10, 20]}, **given).report
    returns = {trial["params"]["bars"]: trial["return_pct"] for trial in report["trials"]}
    assert set(returns) == {5, 10, 20}
    assert report["stats"]["Return [%]"] == returns[report["request"]["params"]["bars"]]
    assert (report["selection"]["trials_in_this_run"], report["selection"]["trials_ever"]) == (3, 3)
    again = desk.run(params={"bars": [5, 40]}, **given).report
    assert again["selection"]["trials_ever"] == 4
    assert 0 <= again["selection"]["deflated_sharpe"] <= 1


def test_a_value_that_is_the_default_is_no_other_trial(desk, seeded):
    code = """
from backtesting import Strategy
class Wait(Strategy):
    bars = 5
    size = 1 / 4
    def init(self): pass
    def next(self):
        if len(self.data) % self.bars == 0: self.position.close() if self.position else self.buy(size=self.size)
"""
    desk.write('"""{"params": {"size": 0.3}}"""' + code)
    given = {"symbol": "AAPL", "until": datetime(2001, 1, 1, tzinfo=UTC)}
    full = {"bars": 5, "size": 0.25}
    runs = [desk.run(params=params, **given).report for params in ({}, {"size": 0.25}, full)]
    assert [run["request"]["params"] for run in runs] == [full] * 3
    assert [run["trials"][0]["params"] for run in runs] == [full] * 3
    assert [run["selection"]["trials_ever"] for run in runs] == [1] * 3
    swept = desk.run(params={"bars": [5, 5, 10]}, **given).report["selection"]
    assert (swept["trials_in_this_run"], swept["trials_ever"]) == (2, 2)


def test_trials_that_were_remembered_before_defaults_were_filled_in_still_count(desk):
    desk.write(HOLD_WHILE_UP)
    desk.bars(FOUR)
    assert desk.store.put_trials("s", [("of-before", 0.1)], NOW) == [0.1]
    assert desk.run().report["selection"]["trials_ever"] == 2


def test_an_error_of_the_strategy_is_told_with_its_line(desk):
    desk.write(HOLD_WHILE_UP.replace("self.buy(size=1)", "self.buy(size=1 / 0)"))
    desk.bars(FOUR)
    with pytest.raises(InvalidInputError, match=r"ZeroDivisionError: division by zero \(<strategy>, line 12"):
        desk.run()


def test_a_strategy_that_forges_its_report_is_refused(desk):
    desk.write(HOLD_WHILE_UP.replace("pass", "import __main__; __main__.statistics = lambda stats: (5, {})"))
    desk.bars(FOUR)
    with pytest.raises(InvalidInputError, match="breaks its own report"):
        desk.run()


def test_a_run_that_never_ends_is_told_so(database):
    class Slow:
        name = "slow"

        def run(self, code, inputs, limits):
            return SandboxResult("time_limit", "", "", None, (), (), (), 22_000)

    desk = Desk(database, Slow())
    desk.write(HOLD_WHILE_UP)
    desk.bars(FOUR)
    with pytest.raises(DeadlineError):
        desk.run()


def test_a_symbol_without_candles_is_not_found_and_those_there_are_are_named(desk):
    desk.write(HOLD_WHILE_UP)
    desk.bars(FOUR)
    with pytest.raises(NotFoundError, match="there are: TEST 1d"):
        desk.run(symbol="NOPE")


def test_where_the_strategys_own_symbol_has_no_candles_the_default_is_used_and_said(desk, seeded):
    desk.write('"""{"symbols": ["BTC/USDT"], "timeframe": "1h"}"""' + HOLD_WHILE_UP)
    report = desk.run(symbol=None, timeframe=None, until=datetime(2000, 6, 1, tzinfo=UTC)).report
    assert report["data"]["note"] == "there are no candles for BTC/USDT 1h; this ran on AAPL 1d"


def test_results_are_read_page_by_page_and_each_names_the_next(desk, seeded):
    desk.write(PEEKS_IN_NEXT)
    backtest = desk.run(symbol="AAPL", until=datetime(2001, 1, 1, tzinfo=UTC))
    total = backtest.report["counts"]["trades"]
    read, uri = [], "?section=trades&limit=20"
    while uri:
        given = dict(part.split("=") for part in uri.partition("?")[2].split("&"))
        page = json.loads(
            read_results(
                backtest.backtest_id,
                section=given["section"],
                cursor=given.get("cursor", ""),
                limit=given["limit"],
                store=desk.store,
            )
        )
        read += page["items"]
        uri = page["next"]
    assert len(read) == total > 20
    assert read[:5] == backtest.trades
    first = json.loads(read_results(backtest.backtest_id, section=None, cursor="", limit="", store=desk.store))
    assert (first["report"], first["items"]) == (backtest.report, read[:100])
    chart = json.loads(read_results(backtest.backtest_id, section="chart", cursor="", limit="", store=desk.store))
    assert base64.b64decode(chart["base64"]).startswith(b"\x89PNG")
    equity = json.loads(read_results(backtest.backtest_id, section="equity", cursor="", limit="2", store=desk.store))
    assert equity["items"][0] == {"ts": "2000-03-01T00:00:00Z", "equity": 1000.0, "drawdown": 0.0}


@pytest.mark.parametrize(
    "given", [{"section": "x"}, {"cursor": "-1"}, {"limit": "0"}, {"limit": "1001"}, {"cursor": "²"}]
)
def test_a_wrong_page_is_refused(given, desk):
    fields = {"section": None, "cursor": "", "limit": ""} | given
    with pytest.raises(InvalidInputError):
        read_results("b", store=desk.store, **fields)


def test_nobody_reads_anothers_strategy_or_backtest(desk, database, wasm):
    desk.write(HOLD_WHILE_UP)
    desk.bars(FOUR)
    backtest = desk.run()
    bob = StrategyStore(database, "bob")
    with pytest.raises(NotFoundError):
        read_results(backtest.backtest_id, section=None, cursor="", limit="", store=bob)
    with pytest.raises(NotFoundError):
        read_strategy_context("s", version="", store=bob)


def test_a_strategys_context_shows_what_changed_and_its_latest_backtests(desk):
    desk.write(HOLD_WHILE_UP)
    desk.write(HOLD_WHILE_UP.replace("size=1", "size=2"))
    desk.bars(FOUR)
    backtest = desk.run()
    context = json.loads(read_strategy_context("s", version="", store=desk.store))
    assert (context["version"], [row["version"] for row in context["versions"]]) == (2, [2, 1])
    assert "-            self.buy(size=1)\n+            self.buy(size=2)" in context["changes"]
    (shown,) = context["backtests"]
    assert shown["results_uri"] == f"context://backtest/{backtest.backtest_id}/results"
    assert json.loads(read_strategy_context("s", version="1", store=desk.store))["changes"] == ""


def test_the_tools_work_together_from_writing_to_reading_the_results(in_wasm, invoke):
    scopes = ["context:read", "context:write", "sandbox:run"]

    def call(tool, **arguments):
        return invoke(tool, direct(scopes=scopes, arguments=arguments))

    def read(function, uri):
        answer = invoke(function, direct(scopes=scopes, resource=uri))
        return json.loads(answer["contents"][0]["text"])

    for name in ("write_strategy", "list_strategies", "read_strategy", "run_backtest", "strategy_context"):
        answer = invoke(name, json.loads(Path(f"events/{name}.json").read_text("utf-8")))
        assert "error" not in answer
        if name == "run_backtest":
            backtest = answer["structuredContent"]
    assert (backtest["status"], backtest["lookahead"], len(backtest["trades"])) == ("done", "not_found", 5)
    page = read("backtest_results", backtest["results_uri"])
    assert page["items"][:5] == backtest["trades"]
    assert read("strategy_context", "context://strategy/sma-crossover")["backtests"][0]["trades"] == len(page["items"])
    (listed,) = call("list_strategies")["structuredContent"]["strategies"]
    assert (listed["version"], listed["params"]) == (1, {"fast": 10, "slow": 30})
    written = call("write_strategy", name="bad", code=HOLD_WHILE_UP.replace("pass", "self.data.Close.s.shift(-1)"))
    assert written["error"]["message"].startswith("line 7: look-ahead")
    missing = invoke("backtest_results", json.loads(Path("events/backtest_results.json").read_text("utf-8")))
    assert missing["error"]["code"] == "not_found"
