from decimal import Decimal

import pytest

from satchel.api.validation import validate
from satchel.api.wire.accounts import ConfigureAccountArguments
from satchel.api.wire.strategies import RunBacktestArguments
from satchel.errors import InvalidInputError


@pytest.mark.parametrize("zero", [0, 0.0, "0", "0.00", "00.", " 0 "])
def test_a_share_may_be_nothing_however_it_is_written(zero):
    assert validate(ConfigureAccountArguments, {"fee_rate": zero}).fee_rate == Decimal(0)


@pytest.mark.parametrize("share", ["1", "1e30", "-1", "NaN", False, True, "1_0"])
def test_a_share_of_everything_or_of_more_is_none(share):
    with pytest.raises(InvalidInputError) as caught:
        validate(ConfigureAccountArguments, {"slippage": share})
    assert caught.value.field == "slippage"


# Written out, the smallest of these would take a gigabyte.
@pytest.mark.parametrize("amount", ["1e-999999999", "1e-400", "1_000", "NaN", "1e13", 0, -1, True])
def test_the_cash_of_a_backtest_is_an_amount(amount):
    with pytest.raises(InvalidInputError) as caught:
        validate(RunBacktestArguments, {"strategy": "s", "cash": amount})
    assert caught.value.field == "cash"


@pytest.mark.parametrize("share", ["1e-999999999", "0.1", "-0.001", "NaN"])
def test_the_commission_of_a_backtest_is_a_small_share(share):
    with pytest.raises(InvalidInputError) as caught:
        validate(RunBacktestArguments, {"strategy": "s", "commission": share})
    assert caught.value.field == "commission"
    assert validate(RunBacktestArguments, {"strategy": "s", "commission": 0}).commission == 0


@pytest.mark.parametrize("value", ["\x00", "\ud800", ["a", "\x00"]])
def test_a_parameter_that_cannot_be_stored_is_refused_by_name(value):
    with pytest.raises(InvalidInputError) as caught:
        validate(RunBacktestArguments, {"strategy": "s", "params": {"n": value}}).to_request()
    assert caught.value.field == "params.n"
