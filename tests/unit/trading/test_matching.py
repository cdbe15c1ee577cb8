from datetime import UTC, datetime
from decimal import Decimal

import pytest

from satchel.errors import InvalidInputError
from satchel.trading.matching import Match, match
from satchel.trading.orders import Bar, OrderRequest

BAR = Bar(datetime(2025, 1, 1, tzinfo=UTC), *map(Decimal, ("100", "110", "90", "105")))
SLIP = Decimal("0.001")


def order(side, type_, price=None, stop=None):
    return OrderRequest(
        "X", side, Decimal(1), type_, Decimal(price) if price else None, Decimal(stop) if stop else None
    )


def price_of(*given, triggered=False):
    met = match(order(*given), BAR, triggered=triggered, slippage=SLIP)
    return None if met.price is None else str(met.price.normalize())


@pytest.mark.parametrize(
    ("given", "price"),
    [
        (("buy", "market"), "100.1"),
        (("sell", "market"), "99.9"),
        (("buy", "limit", "95"), "95"),
        (("buy", "limit", "103"), "1E+2"),
        (("buy", "limit", "89"), None),
        (("sell", "limit", "108"), "108"),
        (("sell", "limit", "97"), "1E+2"),
        (("sell", "limit", "111"), None),
        (("buy", "stop", None, "108"), "108.108"),
        (("buy", "stop", None, "95"), "100.1"),
        (("buy", "stop", None, "111"), None),
        (("sell", "stop", None, "95"), "94.905"),
        (("sell", "stop", None, "105"), "99.9"),
        (("sell", "stop", None, "89"), None),
        (("buy", "stop_limit", "101", "99"), "1E+2"),
        (("sell", "stop_limit", "99", "101"), "1E+2"),
    ],
)
def test_a_candle_fills_at_a_price_that_was_there(given, price):
    assert price_of(*given) == price


def test_a_stop_limit_touched_inside_a_candle_waits_for_the_next():
    request = order("buy", "stop_limit", "109", "108")
    assert match(request, BAR, triggered=False, slippage=SLIP) == Match(None, triggered=True)
    assert match(request, BAR, triggered=True, slippage=SLIP).price == 100


@pytest.mark.parametrize(
    ("given", "field"),
    [
        (("buy", "limit"), "price"),
        (("buy", "market", "1"), "price"),
        (("buy", "stop"), "stop_price"),
        (("buy", "limit", "1", "1"), "stop_price"),
        (("buy", "stop_limit", "1"), "stop_price"),
    ],
)
def test_an_orders_prices_fit_its_type(given, field):
    with pytest.raises(InvalidInputError) as caught:
        order(*given)
    assert caught.value.field == field
