"""Orders as values: what may be asked, what is kept, what a fill is."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from satchel.errors import InvalidInputError
from satchel.trading.money import plain

Side = Literal["buy", "sell"]
OrderType = Literal["market", "limit", "stop", "stop_limit"]
TimeInForce = Literal["GTC", "IOC"]
OrderStatus = Literal["open", "filled", "cancelled", "rejected"]


@dataclass(frozen=True, slots=True)
class OrderRequest:
    """What somebody wants done.

    Attributes:
        symbol: What to trade.
        side: `buy` or `sell`.
        quantity: How much, in units of the symbol.
        type: `market`, `limit`, `stop` or `stop_limit`.
        price: The limit price of `limit` and `stop_limit`.
        stop_price: Where `stop` and `stop_limit` come alive.
        time_in_force: `GTC` rests until it is filled or cancelled; `IOC` is tried at the next candle only.
        reduce_only: It may make a position smaller, never larger or another one.
        client_order_id: The caller's id, unique in the account.

    Raises:
        InvalidInputError: The prices do not fit the type.
    """

    symbol: str
    side: Side
    quantity: Decimal
    type: OrderType = "market"
    price: Decimal | None = None
    stop_price: Decimal | None = None
    time_in_force: TimeInForce = "GTC"
    reduce_only: bool = False
    client_order_id: str | None = None

    def __post_init__(self) -> None:
        for field, types in (("price", ("limit", "stop_limit")), ("stop_price", ("stop", "stop_limit"))):
            given, needed = getattr(self, field) is not None, self.type in types
            if needed and not given:
                raise InvalidInputError(f"a {self.type} order needs {field}", field=field)
            if given and not needed:
                raise InvalidInputError(f"a {self.type} order has no {field}", field=field)

    @property
    def sign(self) -> Decimal:
        """1 for buying, -1 for selling."""
        return Decimal(1 if self.side == "buy" else -1)

    def digest(self, account: str) -> str:
        """SHA-256 of the order as asked, in this account: equal for equal orders, whatever their digits look like."""
        amounts = {
            name: None if value is None else plain(value.normalize())
            for name, value in (("quantity", self.quantity), ("price", self.price), ("stop_price", self.stop_price))
        }
        rest = [account, self.symbol, self.side, self.type, self.time_in_force, self.reduce_only, self.client_order_id]
        return hashlib.sha256(json.dumps([rest, amounts], sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Order:
    """A kept order. `quantity` is what was accepted, rounded down to the symbol's step."""

    order_id: int
    request: OrderRequest
    quantity: Decimal
    status: OrderStatus
    filled_quantity: Decimal
    triggered: bool
    reason: str | None
    placed_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Fill:
    """A part of an order that was done: at this price, for this fee, in the candle that began at `ts`."""

    order_id: int
    symbol: str
    side: Side
    quantity: Decimal
    price: Decimal
    fee: Decimal
    ts: datetime


@dataclass(frozen=True, slots=True)
class Bar:
    """The prices of one candle."""

    ts: datetime
    open: Decimal
    high: Decimal
    low: Decimal
    close: Decimal
