"""What the tools of the live account take and answer, as in `docs/api.md`."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from satchel.api.wire.amounts import Amount, Symbol
from satchel.api.wire.types import StorableText
from satchel.timestamps import format_timestamp
from satchel.trading.live_orders import LIVE, LiveOrder, LivePreview, LiveTrade
from satchel.trading.money import plain, short
from satchel.trading.orders import OrderRequest

# What every supported exchange takes as an id.
LiveClientId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,36}$")]


class ExecuteLiveTradeArguments(BaseModel):
    """An order for a real exchange."""

    model_config = ConfigDict(extra="forbid")

    symbol: Symbol = Field(description="Such as BTC/USDT.")
    side: Literal["buy", "sell"]
    quantity: Amount
    type: Literal["market", "limit"] = "market"
    price: Amount | None = Field(default=None, description="The limit price, as decimal text.")
    time_in_force: Literal["GTC", "IOC"] = "GTC"
    client_order_id: LiveClientId | None = Field(
        default=None, description="Your id for it: asking again with it never sends a second order."
    )
    confirm_token: StorableText | None = Field(
        default=None, max_length=200, description="From the preview: sends exactly the order that was previewed."
    )

    def to_request(self) -> OrderRequest:
        """The order as the feature takes it."""
        return OrderRequest(
            symbol=self.symbol,
            side=self.side,
            quantity=self.quantity,
            type=self.type,
            price=self.price,
            time_in_force=self.time_in_force,
            client_order_id=self.client_order_id,
        )


class LivePreviewOut(BaseModel):
    """What an order would be."""

    symbol: str
    side: str
    type: str
    quantity: str = Field(description="Rounded down to the exchange's step.")
    price: str = Field(description="What it is valued at: its limit, or the exchange's last price.")
    price_as_of: str
    value: str
    free_after: str = Field(description="What would be left of what it is paid with.")

    @classmethod
    def of(cls, preview: LivePreview) -> "LivePreviewOut":
        """`preview` as it goes out."""
        request = preview.request
        return cls(
            symbol=request.symbol,
            side=request.side,
            type=request.type,
            quantity=short(request.quantity),
            price=plain(preview.price),
            price_as_of=format_timestamp(preview.price_at),
            value=short(preview.value),
            free_after=short(preview.free_after),
        )


class LiveOrderOut(BaseModel):
    """An order that was sent to a real exchange."""

    client_order_id: str
    exchange_order_id: str | None
    symbol: str
    side: str
    type: str
    quantity: str
    price: str | None
    time_in_force: str
    status: Literal["intended", "unknown", "open", "filled", "cancelled", "rejected", "not_placed"] = Field(
        description="`unknown`: the exchange's answer was lost; ask again, which sends nothing."
    )
    filled_quantity: str
    average_price: str | None
    reason: str | None
    placed_at: str
    updated_at: str

    @classmethod
    def of(cls, order: LiveOrder) -> "LiveOrderOut":
        """`order` as it goes out."""
        request = order.request
        return cls(
            client_order_id=order.client_order_id,
            exchange_order_id=order.exchange_order_id,
            symbol=request.symbol,
            side=request.side,
            type=request.type,
            quantity=short(request.quantity),
            price=plain(request.price) if request.price else None,
            time_in_force=request.time_in_force,
            status=order.status,
            filled_quantity=short(order.filled),
            average_price=plain(order.average) if order.average else None,
            reason=order.reason,
            placed_at=format_timestamp(order.placed_at),
            updated_at=format_timestamp(order.updated_at),
        )


class ExecuteLiveTradeResult(BaseModel):
    """A preview with the token that confirms it, or the order."""

    executed: bool = Field(description="Whether an order was sent; its `status` says what became of it.")
    mode: Literal["live"] = Field(default=LIVE, description="Real money moves.")
    preview: LivePreviewOut | None = None
    confirm_token: str | None = Field(default=None, description="Call again with it, and the same order, to send it.")
    expires_at: str | None = None
    order: LiveOrderOut | None = None

    @classmethod
    def of(cls, trade: LiveTrade) -> "ExecuteLiveTradeResult":
        """`trade` as it goes out."""
        return cls(
            executed=trade.order is not None,
            preview=LivePreviewOut.of(trade.preview) if trade.preview else None,
            confirm_token=trade.confirm_token,
            expires_at=format_timestamp(trade.expires_at) if trade.expires_at else None,
            order=LiveOrderOut.of(trade.order) if trade.order else None,
        )


class LiveOrderArguments(BaseModel):
    """Which order."""

    model_config = ConfigDict(extra="forbid")

    client_order_id: LiveClientId
    cancel: bool = Field(default=False, description="Cancel it, if it rests.")


class LiveOrderResult(BaseModel):
    """An order as the exchange knows it now."""

    mode: Literal["live"] = LIVE
    order: LiveOrderOut
