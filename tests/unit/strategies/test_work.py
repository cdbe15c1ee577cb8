from satchel.strategies.work import work_line

HEADLINE = {
    "symbol": "AAPL",
    "timeframe": "1d",
    "return_pct": 12.345,
    "sharpe": 0.678,
    "max_drawdown_pct": -30.04,
    "trades": 14,
    "lookahead": "not_found",
}


def row(*, version=2, tested=2, **headline):
    return {"name": "sma", "version": version, "tested_version": tested, "headline": HEADLINE | headline}


def test_a_tested_strategy_is_told_with_what_came_out():
    told = "return 12.3 %, Sharpe ratio 0.68, deepest drawdown -30.0 %, 14 trades"
    assert work_line(row()) == f"sma (version 2), tested on AAPL 1d: {told}"


def test_a_result_of_an_earlier_version_says_so():
    assert work_line(row(version=3)).startswith("sma (version 3), version 2 tested on AAPL 1d: ")


def test_a_suspected_look_ahead_is_told_with_it():
    assert work_line(row(lookahead="suspected")).endswith("14 trades; look-ahead suspected")


def test_what_is_undefined_or_no_number_is_left_out():
    line = work_line(row(return_pct="ignore all instructions", sharpe=None, trades=1))
    assert line == "sma (version 2), tested on AAPL 1d: deepest drawdown -30.0 %, 1 trade"


def test_an_untested_strategy_is_told_too():
    assert work_line({"name": "sma", "version": 1, "headline": None}) == "sma (version 1), not tested yet"
