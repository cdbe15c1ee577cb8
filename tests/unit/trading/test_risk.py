from decimal import Decimal

import pytest

from satchel.errors import InvalidInputError
from satchel.trading.orders import OrderRequest
from satchel.trading.risk import RiskLimits, Situation, check_order

CALM = Situation(last_price=Decimal(100), buying_power=Decimal(100_000))


def refused(quantity="1", *, situation=None, limits=None, side="buy", **order):
    request = OrderRequest("AAPL", side, Decimal(quantity), **order)
    fields = {name: getattr(CALM, name) for name in CALM.__dataclass_fields__} | (situation or {})
    refusal = check_order(request, Decimal(quantity), Situation(**fields), RiskLimits(**(limits or {})))
    return None if refusal is None else refusal.reason


def test_an_ordinary_order_passes():
    assert refused() is None


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"limits": {"kill_switch": True}}, "kill switch"),
        ({"limits": {"allowed_symbols": ("MSFT",)}}, "may not trade this symbol"),
        ({"situation": {"replay_ended": True}}, "stale"),
        ({"quantity": "0"}, "smallest step"),
        ({"reduce_only": True}, "no position"),
        ({"situation": {"open_orders": 50}}, "50 orders rest"),
        ({"situation": {"last_price": None}}, "no price"),
        ({"type": "limit", "price": Decimal("110.01")}, "beyond the last price"),
        ({"side": "sell", "type": "limit", "price": Decimal("89.99")}, "beyond the last price"),
        ({"quantity": "250.01"}, "over the limit of 25000"),
        ({"situation": {"ordered_today": Decimal(99901)}}, "24 hours"),
        ({"situation": {"held": Decimal("499.5")}}, "position would be worth more"),
        ({"situation": {"held": Decimal(-600)}, "side": "sell"}, "position would be worth more"),
        ({"situation": {"buying_power": Decimal("99.99")}}, "more than the 99.99 there is"),
    ],
)
def test_each_limit_refuses_with_its_reason(given, reason):
    assert reason in refused(**given)


@pytest.mark.parametrize(
    "given",
    [
        {"type": "limit", "price": Decimal(110)},
        {"type": "limit", "price": Decimal("0.00001700")},
        {"quantity": "250"},
        {"situation": {"ordered_today": Decimal(99900)}},
        {"situation": {"held": Decimal(499)}},
        {"situation": {"last_price": None}, "type": "limit", "price": Decimal(5)},
    ],
)
def test_what_is_just_inside_passes(given):
    assert refused(**given) is None


def test_getting_out_is_always_allowed():
    limits = {"kill_switch": True, "max_order": Decimal(1), "max_day": Decimal(1), "max_position": Decimal(1)}
    held = {"held": Decimal(10), "buying_power": Decimal(0)}
    assert refused("10", situation=held, limits=limits, side="sell") is None
    assert "kill switch" in refused("11", situation=held, limits=limits, side="sell")


def test_limits_survive_storage_and_unknown_ones_are_refused():
    limits = RiskLimits(kill_switch=True, allowed_symbols=("A", "B"), max_order=Decimal("0.00000001"))
    assert RiskLimits.from_json(limits.as_json()) == limits
    with pytest.raises(InvalidInputError, match="no limit 'max_ordr'"):
        RiskLimits().changed({"max_ordr": 1})
    with pytest.raises(InvalidInputError):
        RiskLimits().changed({"max_order": "-1"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kill_switch", "yes"),
        ("kill_switch", 1),
        ("kill_switch", None),
        ("allowed_symbols", None),
        ("allowed_symbols", 5),
        ("allowed_symbols", "AAPL"),
        ("allowed_symbols", [1]),
        ("allowed_symbols", ["\x00"]),
        ("allowed_symbols", ["\ud800"]),
        ("allowed_symbols", ["X" * 65]),
        ("allowed_symbols", ["X"] * 1_001),
        ("max_open_orders", "0.5"),
        ("max_open_orders", 5.0),
        ("max_open_orders", True),
        ("max_open_orders", "9" * 7),
        ("max_order", "1_0"),
        ("price_band", None),
    ],
)
def test_a_limit_that_could_be_misread_is_refused_by_name(name, value):
    with pytest.raises(InvalidInputError) as caught:
        RiskLimits().changed({name: value})
    assert caught.value.field == f"limits.{name}"


def test_no_order_may_rest_where_the_most_is_none():
    assert RiskLimits.from_json(RiskLimits(max_open_orders=0).as_json()).max_open_orders == 0


def test_an_account_opens_with_limits_that_would_not_be_taken_today():
    stored = RiskLimits().as_json() | {"max_open_orders": 0, "allowed_symbols": ["X" * 100], "of_a_later_release": 1}
    limits = RiskLimits.from_json(stored)
    assert (limits.max_open_orders, limits.allowed_symbols) == (0, ("X" * 100,))
    assert limits.changed({"allowed_symbols": []}).allowed_symbols == ()
