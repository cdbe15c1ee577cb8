"""What the tools of a trading account take and answer, as in `docs/api.md`: positions, rules, prices."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from satchel.api.wire.amounts import AccountArguments, Amount, Share, Symbol
from satchel.api.wire.trading import FillOut
from satchel.timestamps import format_timestamp
from satchel.trading.account import Account
from satchel.trading.exchange import Step
from satchel.trading.money import plain, short
from satchel.trading.orders import Bar
from satchel.trading.positions import Position

_MAX_STEPS = 500


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
