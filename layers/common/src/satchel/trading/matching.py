"""When an order fills in a candle, and at which price. It is never filled in a candle that was there when it came."""

from dataclasses import dataclass
from decimal import Decimal

from satchel.trading.money import plus, times
from satchel.trading.orders import Bar, OrderRequest


@dataclass(frozen=True, slots=True)
class Match:
    """What a candle does to an order: the price it fills at, or None; and whether its stop has been touched."""

    price: Decimal | None
    triggered: bool


def match(order: OrderRequest, bar: Bar, *, triggered: bool, slippage: Decimal) -> Match:
    """What `bar` does to an order that stood when it opened.

    Market orders fill at the open, stops at the worse of the open and the stop price, both worsened by `slippage` (a
    share of the price). Limits fill at the limit, or at the open where that is better. A stop-limit whose stop is
    touched inside the candle waits for the next one: the path within a candle is not known.
    """
    worse = plus(Decimal(1), times(slippage, order.sign))
    if order.type == "market":
        return Match(times(bar.open, worse), triggered=True)
    at_open = triggered or _beyond(order, bar.open)
    touched = at_open or _beyond(order, bar.high if order.side == "buy" else bar.low)
    if order.type == "stop":
        if not touched:
            return Match(None, triggered=False)
        assert order.stop_price is not None
        return Match(times(bar.open if at_open else order.stop_price, worse), triggered=True)
    if order.type == "stop_limit" and not at_open:
        return Match(None, triggered=touched)
    assert order.price is not None
    return Match(_limit_price(order.side == "buy", order.price, bar), triggered=True)


def _beyond(order: OrderRequest, price: Decimal) -> bool:
    """Whether the stop is touched at this price; orders without one are always alive."""
    if order.stop_price is None:
        return True
    return price >= order.stop_price if order.side == "buy" else price <= order.stop_price


def _limit_price(buying: bool, limit: Decimal, bar: Bar) -> Decimal | None:  # noqa: FBT001 - a direction
    if buying:
        return min(bar.open, limit) if bar.low <= limit else None
    return max(bar.open, limit) if bar.high >= limit else None
