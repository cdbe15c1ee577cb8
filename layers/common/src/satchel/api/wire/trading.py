"""What the tools of orders take and answer, as in `docs/api.md`."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from satchel.api.wire.amounts import AccountArguments, AccountName, Amount, ClientId, OrderId, Symbol
from satchel.api.wire.types import StorableText
from satchel.timestamps import format_timestamp
from satchel.trading.account import PAPER
from satchel.trading.exchange import Preview, Trade
from satchel.trading.money import plain, short
from satchel.trading.orders import Fill, Order, OrderRequest

# The replay stands still by itself, which nobody expects of a market.
_TIME = "time moves by `satchel market step`, or by the tool market_step of the tool set trading"


class ExecuteTradeArguments(BaseModel):
    """An order."""

    model_config = ConfigDict(extra="forbid")

    symbol: Symbol = Field(description="Such as AAPL or BTC/USDT.")
    side: Literal["buy", "sell"]
    quantity: Amount
    type: Literal["market", "limit", "stop", "stop_limit"] = "market"
    price: Amount | None = Field(default=None, description="The limit price of limit and stop_limit, as decimal text.")
    stop_price: Amount | None = Field(default=None, description="Where stop and stop_limit come alive.")
    time_in_force: Literal["GTC", "IOC"] = Field(default="GTC", description="IOC is tried at the next candle only.")
    reduce_only: bool = Field(default=False, description="It may make a position smaller, never larger.")
    client_order_id: ClientId | None = Field(
        default=None, description="Your id for it, unique in the account: sending the same order again is safe."
    )
    account: AccountName = Field(default=PAPER, description="The trading account.")
    confirm_token: StorableText | None = Field(
        default=None, max_length=200, description="From the preview: places exactly the order that was previewed."
    )

    def to_request(self) -> OrderRequest:
        """The order as the feature takes it."""
        return OrderRequest(
            symbol=self.symbol,
            side=self.side,
            quantity=self.quantity,
            type=self.type,
            price=self.price,
            stop_price=self.stop_price,
            time_in_force=self.time_in_force,
            reduce_only=self.reduce_only,
            client_order_id=self.client_order_id,
        )


class OrderOut(BaseModel):
    """A kept order."""

    order_id: str
    client_order_id: str | None
    symbol: str
    side: str
    type: str
    quantity: str
    price: str | None
    stop_price: str | None
    time_in_force: str
    reduce_only: bool
    status: str = Field(description="open, filled, cancelled or rejected.")
    filled_quantity: str
    reason: str | None
    placed_at: str
    updated_at: str

    @classmethod
    def of(cls, order: Order) -> "OrderOut":
        """`order` as it goes out."""
        request = order.request
        return cls(
            order_id=str(order.order_id),
            client_order_id=request.client_order_id,
            symbol=request.symbol,
            side=request.side,
            type=request.type,
            quantity=short(order.quantity),
            price=plain(request.price) if request.price else None,
            stop_price=plain(request.stop_price) if request.stop_price else None,
            time_in_force=request.time_in_force,
            reduce_only=request.reduce_only,
            status=order.status,
            filled_quantity=short(order.filled_quantity),
            reason=order.reason,
            placed_at=format_timestamp(order.placed_at),
            updated_at=format_timestamp(order.updated_at),
        )


class FillOut(BaseModel):
    """A part of an order that was done."""

    order_id: str
    symbol: str
    side: str
    quantity: str
    price: str
    fee: str
    ts: str = Field(description="When the candle began that it was done in.")

    @classmethod
    def of(cls, fill: Fill) -> "FillOut":
        """`fill` as it goes out."""
        return cls(
            order_id=str(fill.order_id),
            symbol=fill.symbol,
            side=fill.side,
            quantity=short(fill.quantity),
            price=short(fill.price),
            fee=short(fill.fee),
            ts=format_timestamp(fill.ts),
        )


class PreviewOut(BaseModel):
    """What an order would be."""

    symbol: str
    side: str
    type: str
    quantity: str = Field(description="Rounded down to the symbol's step.")
    price: str = Field(description="What it is valued at: its limit, its stop, or the last price.")
    price_as_of: str | None
    value: str
    fee: str
    position_after: str
    fills: str

    @classmethod
    def of(cls, preview: Preview) -> "PreviewOut":
        """`preview` as it goes out."""
        return cls(
            symbol=preview.order.symbol,
            side=preview.order.side,
            type=preview.order.type,
            quantity=short(preview.quantity),
            price=plain(preview.price),
            price_as_of=format_timestamp(preview.price_at) if preview.price_at else None,
            value=short(preview.value),
            fee=short(preview.fee),
            position_after=short(preview.held_after),
            fills=f"at the next candle; {_TIME}"
            if preview.price_at
            else "there are no candles of this symbol: it would rest",
        )


class ExecuteTradeResult(BaseModel):
    """A preview with the token that confirms it, or the order."""

    executed: bool
    mode: str = Field(description="`paper`: no real money moves.")
    preview: PreviewOut | None = None
    confirm_token: str | None = Field(default=None, description="Call again with it, and the same order, to place it.")
    expires_at: str | None = None
    order: OrderOut | None = None
    fills: list[FillOut] = Field(default_factory=list[FillOut])
    note: str | None = Field(default=None, description="Of an open order: what it waits for.")

    @classmethod
    def of(cls, trade: Trade) -> "ExecuteTradeResult":
        """`trade` as it goes out."""
        return cls(
            executed=trade.order is not None,
            mode=trade.mode,
            preview=PreviewOut.of(trade.preview) if trade.preview else None,
            confirm_token=trade.confirm_token,
            expires_at=format_timestamp(trade.expires_at) if trade.expires_at else None,
            order=OrderOut.of(trade.order) if trade.order else None,
            fills=[FillOut.of(fill) for fill in trade.fills],
            note=f"it waits for the next candle; {_TIME}" if trade.order and trade.order.status == "open" else None,
        )


class ListOrdersArguments(AccountArguments):
    """Which orders."""

    status: Literal["open", "filled", "cancelled", "rejected"] | None = None
    before: OrderId | None = Field(default=None, description="Only orders before this id: the next page.")
    limit: int = Field(default=50, ge=1, le=200)


class ListOrdersResult(BaseModel):
    """Orders, newest first."""

    account: str
    mode: str
    orders: list[OrderOut]
    next: str | None = Field(description="The `before` of the next page.")


class OrderArguments(AccountArguments):
    """Which order."""

    order_id: OrderId


class OrderResult(BaseModel):
    """An order and its fills."""

    mode: str
    order: OrderOut
    fills: list[FillOut]

    @classmethod
    def of(cls, order: Order, fills: list[Fill]) -> "OrderResult":
        """`order` as it goes out."""
        return cls(mode=PAPER, order=OrderOut.of(order), fills=[FillOut.of(fill) for fill in fills])
