"""What the trading tools take and answer, as in `docs/api.md`. Amounts are decimal text; ids of 64 bits are text."""

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema

from satchel.api.wire.types import StorableText
from satchel.errors import InvalidInputError
from satchel.timestamps import format_timestamp
from satchel.trading.account import PAPER, Account
from satchel.trading.exchange import Preview, Step, Trade
from satchel.trading.money import plain, read_amount, short
from satchel.trading.orders import Bar, Fill, Order, OrderRequest
from satchel.trading.positions import Position

_MAX_STEPS = 500


def _amount(value: Any) -> Decimal:
    try:
        return read_amount(value, field="it")
    except InvalidInputError as error:
        raise ValueError(error.message) from error


def _share(value: Any) -> Decimal:
    return Decimal(0) if str(value).strip() in {"0", "0.0"} else _amount(value)


def _exact_id(value: Any) -> Any:
    # An integer in JSON has all its digits here; a float has lost some and is refused as what it is.
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Amount = Annotated[
    Decimal,
    PlainValidator(_amount),
    WithJsonSchema({"type": ["string", "number"], "description": 'A decimal number, best as text: "0.00001700".'}),
]
Share = Annotated[
    Decimal, PlainValidator(_share), WithJsonSchema({"type": ["string", "number"], "description": "A share: 0.001."})
]
ClientId = Annotated[
    StorableText, BeforeValidator(_exact_id), Field(min_length=1, max_length=64), WithJsonSchema({"type": "string"})
]
OrderId = Annotated[
    str,
    BeforeValidator(_exact_id),
    Field(pattern=r"^[0-9]{1,18}$|^[1-8][0-9]{18}$"),
    WithJsonSchema({"type": "string"}),
]
Symbol = Annotated[StorableText, Field(min_length=1, max_length=64)]
AccountName = Annotated[StorableText, Field(min_length=1, max_length=64)]


class AccountArguments(BaseModel):
    """Which account."""

    model_config = ConfigDict(extra="forbid")

    account: AccountName = Field(default=PAPER, description="The trading account.")


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
            fills="at the next candle" if preview.price_at else "there are no candles of this symbol: it would rest",
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
        )


class PositionOut(BaseModel):
    """An open position, in the document's fields."""

    ticker: str
    side: Literal["long", "short"]
    size: str
    entryPrice: str  # noqa: N815 - the document's names
    currentPrice: str | None  # noqa: N815
    unrealizedPnL: str | None  # noqa: N815
    priceAsOf: str | None  # noqa: N815

    @classmethod
    def of(cls, position: Position) -> "PositionOut":
        """`position` as it goes out."""
        return cls(
            ticker=position.ticker,
            side=position.side,
            size=short(position.size),
            entryPrice=short(position.entry_price),
            currentPrice=None if position.price is None else short(position.price),
            unrealizedPnL=None if position.unrealised is None else short(position.unrealised),
            priceAsOf=format_timestamp(position.price_at) if position.price_at else None,
        )


class GetPositionsResult(BaseModel):
    """The open positions of an account by ticker."""

    account: str
    mode: str
    positions: list[PositionOut]


class GetWatchlistResult(BaseModel):
    """What the user watches."""

    watchlist: list[str]


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


class ConfigureAccountArguments(AccountArguments):
    """What to change; what is left out stays."""

    confirm: bool | None = Field(default=None, description="Whether an order is previewed and then confirmed.")
    fee_rate: Share | None = None
    slippage: Share | None = None
    limits: dict[str, Any] = Field(
        default_factory=dict,
        description="kill_switch, allowed_symbols, max_order, max_day, max_position, max_open_orders, price_band.",
    )
    steps: dict[str, Any] = Field(default_factory=dict, description="The smallest step of a quantity, by symbol.")


class ConfigureAccountResult(BaseModel):
    """The account's rules now."""

    account: str
    mode: str
    currency: str
    cash: str
    confirm: bool
    fee_rate: str
    slippage: str
    limits: dict[str, Any]
    steps: dict[str, str]

    @classmethod
    def of(cls, account: Account) -> "ConfigureAccountResult":
        """`account` as it goes out."""
        return cls(
            account=account.account,
            mode=account.mode,
            currency=account.currency,
            cash=short(account.cash),
            confirm=account.confirm,
            fee_rate=short(account.fee_rate),
            slippage=short(account.slippage),
            limits=account.limits.as_json(),
            steps={symbol: plain(step) for symbol, step in account.steps.items()},
        )


class SetPriceAlertArguments(BaseModel):
    """A price to watch."""

    model_config = ConfigDict(extra="forbid")

    symbol: Symbol
    direction: Literal["above", "below"]
    price: Amount


class SetPriceAlertResult(BaseModel):
    """What is watched."""

    symbol: str
    direction: str
    price: str


class MarketStepArguments(AccountArguments):
    """How far."""

    steps: int = Field(default=1, ge=1, le=_MAX_STEPS, description="How many candles to move.")


class BarOut(BaseModel):
    """The candle a symbol's replay is at."""

    symbol: str
    ts: str
    close: str

    @classmethod
    def of(cls, symbol: str, bar: Bar) -> "BarOut":
        """`bar` as it goes out."""
        return cls(symbol=symbol, ts=format_timestamp(bar.ts), close=short(bar.close))


class MarketStepResult(BaseModel):
    """What the candles did, over all steps."""

    steps: int
    bars: list[BarOut]
    fills: list[FillOut]
    alerts: list[str]

    @classmethod
    def of(cls, steps: list[Step]) -> "MarketStepResult":
        """`steps` as they go out."""
        last = {symbol: bar for step in steps for symbol, bar in step.bars.items()}
        return cls(
            steps=sum(1 for step in steps if step.bars),
            bars=[BarOut.of(symbol, last[symbol]) for symbol in sorted(last)],
            fills=[FillOut.of(fill) for step in steps for fill in step.fills],
            alerts=[message for step in steps for message in step.alerts],
        )
