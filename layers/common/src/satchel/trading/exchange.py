"""The paper exchange: orders are previewed, confirmed, guarded, kept, and filled by the candles that come after."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Protocol

from satchel.errors import (
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    TooLargeError,
)
from satchel.trading.account import Account
from satchel.trading.holdings import Holding, cash_of
from satchel.trading.matching import match
from satchel.trading.money import ZERO, down_to_step, plain, plus, read_amount, short, times
from satchel.trading.orders import Bar, Fill, Order, OrderRequest
from satchel.trading.risk import Facts, Refusal, check_order, is_symbol, reference_price

TOKEN_LIFE = timedelta(seconds=60)
_MAX_STEPS = 1_000


class Session(Protocol):
    """What the exchange does while an account is held (`satchel.trading.store.Session`)."""

    account: Account
    cash: Decimal

    def facts(self, symbol: str, client_order_id: str | None, now: datetime) -> Facts: ...  # noqa: D102
    def symbols(self) -> list[str]: ...  # noqa: D102
    def fills_of(self, order_id: int) -> list[Fill]: ...  # noqa: D102
    def put_token(self, token_hash: str, digest: str, expires_at: datetime, now: datetime) -> None: ...  # noqa: D102
    def use_token(self, token_hash: str) -> dict[str, Any] | None: ...  # noqa: D102
    def insert_order(  # noqa: D102
        self, request: OrderRequest, *, digest: str, quantity: Decimal, value: Decimal, now: datetime
    ) -> Order: ...
    def order(self, order_id: int) -> Order | None: ...  # noqa: D102
    def open_orders(self, symbol: str) -> list[Order]: ...  # noqa: D102
    def update_order(  # noqa: D102
        self, order: Order, *, status: str, now: datetime, filled: Decimal, triggered: bool, reason: str | None
    ) -> None: ...
    def holding(self, symbol: str) -> Holding: ...  # noqa: D102
    def put_fill(self, fill: Fill, holding: Holding, cash: Decimal) -> None: ...  # noqa: D102
    def alert(self, kind: str, symbol: str, message: str, now: datetime) -> None: ...  # noqa: D102
    def take_price_alerts(  # noqa: D102
        self, symbol: str, previous: Decimal | None, bar: Bar
    ) -> list[dict[str, Any]]: ...
    def clocks(self) -> list[dict[str, Any]]: ...  # noqa: D102
    def advance(self, clock: dict[str, Any]) -> Bar | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Preview:
    """What an order would be, before it is one.

    Attributes:
        order: As asked.
        quantity: As accepted: rounded down to the symbol's step.
        price: What it is valued at: its limit, its stop, or the last price.
        price_at: When the last price is of; None where there is no market data.
        value: `quantity * price`.
        fee: Its fee at that value.
        held_after: What would be held of the symbol once it is filled.
    """

    order: OrderRequest
    quantity: Decimal
    price: Decimal
    price_at: datetime | None
    value: Decimal
    fee: Decimal
    held_after: Decimal


@dataclass(frozen=True, slots=True)
class Trade:
    """The answer to an order: a preview with the token that confirms it, or the order with its fills."""

    mode: str
    preview: Preview | None = None
    confirm_token: str | None = None
    expires_at: datetime | None = None
    order: Order | None = None
    fills: tuple[Fill, ...] = ()


def trade(
    session: Session, request: OrderRequest, *, confirm_token: str | None, new_token: Callable[[], str], now: datetime
) -> Trade | Refusal:
    """Preview or place an order in a held account.

    The same client order id with the same order is answered as the first time. A refused order leaves an alert, so the
    transaction must be kept although the caller is told no.

    Raises:
        NotFoundError: There are no candles of the symbol, and the order names no limit to value it at.
        ConflictError: The client order id, or the token, stands for another order.
        PreconditionFailedError: The token is unknown, used or expired; nothing was placed.
    """
    account = session.account
    digest = request.digest(account.account)
    facts = session.facts(request.symbol, request.client_order_id, now)
    if facts.earlier is not None:
        if facts.earlier_digest != digest:
            raise ConflictError("this client_order_id stands for another order", field="client_order_id")
        return Trade(account.mode, order=facts.earlier, fills=tuple(session.fills_of(facts.earlier.order_id)))
    if facts.situation.last_price is None and request.price is None:
        listed = ", ".join(session.symbols()) or "none"
        raise NotFoundError(f"there are no candles for {request.symbol}; there are: {listed}", field="symbol")
    quantity = down_to_step(request.quantity, account.step_of(request.symbol))
    refusal = check_order(request, quantity, facts.situation, account.limits)
    if refusal is not None:
        told = f"{request.side} {short(request.quantity)} {request.symbol} was refused: {refusal.reason}"
        session.alert("order_refused", request.symbol, told, now)
        return refusal
    preview = _preview(request, quantity, facts, account)
    if confirm_token is None and account.confirm:
        token = new_token()
        expires_at = now + TOKEN_LIFE
        session.put_token(token_hash(token), digest, expires_at, now)
        return Trade(account.mode, preview=preview, confirm_token=token, expires_at=expires_at)
    if confirm_token is not None:
        _check_token(session.use_token(token_hash(confirm_token)), digest, now)
    order = session.insert_order(request, digest=digest, quantity=quantity, value=preview.value, now=now)
    return Trade(account.mode, order=order)


def told(result: Trade | Refusal) -> Trade:
    """The trade, or the refusal as an error.

    Raises:
        ForbiddenError: The guard refused the order.
    """
    if isinstance(result, Refusal):
        raise ForbiddenError(f"the order is refused: {result.reason}", field=result.field)
    return result


def _preview(request: OrderRequest, quantity: Decimal, facts: Facts, account: Account) -> Preview:
    price = reference_price(request, facts.situation.last_price)
    assert price is not None, "the guard refuses what has no price"
    value = times(quantity, price)
    return Preview(
        order=request,
        quantity=quantity,
        price=price,
        price_at=facts.price_at,
        value=value,
        fee=times(value, account.fee_rate),
        held_after=plus(facts.situation.held, times(quantity, request.sign)),
    )


def _check_token(token: dict[str, Any] | None, digest: str, now: datetime) -> None:
    if token is None:
        raise PreconditionFailedError("this token was never given; ask for a preview", field="confirm_token")
    if token["digest"] != digest:
        raise ConflictError("this token stands for another order", field="confirm_token")
    if token["used"]:
        raise PreconditionFailedError("this token was used; its order stands", field="confirm_token")
    if token["expires_at"] <= now:
        raise PreconditionFailedError("this token has expired; ask for a preview again", field="confirm_token")


def token_hash(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def cancel(session: Session, order_id: int, now: datetime) -> Order:
    """Cancel a resting order and return it; one that is cancelled already stays so.

    Raises:
        NotFoundError: There is no such order.
        ConflictError: It is filled or rejected.
    """
    order = session.order(order_id)
    if order is None:
        raise NotFoundError("there is no such order", field="order_id")
    if order.status == "cancelled":
        return order
    if order.status != "open":
        raise ConflictError(f"the order is {order.status} and cannot be cancelled", field="order_id")
    _close(session, order, "cancelled", "cancelled by its owner", now)
    cancelled = session.order(order_id)
    assert cancelled is not None
    return cancelled


@dataclass(frozen=True, slots=True)
class Step:
    """What one step of the replay did: the candle each symbol is at now, fills and alerts in their order."""

    bars: dict[str, Bar]
    fills: tuple[Fill, ...]
    alerts: tuple[str, ...]


def step(session: Session, now: datetime) -> Step:
    """Move every replay clock to its next candle, and let that candle fill orders and cross watched prices."""
    bars: dict[str, Bar] = {}
    fills: list[Fill] = []
    alerts: list[str] = []

    def alert(kind: str, symbol: str, message: str) -> None:
        session.alert(kind, symbol, message, now)
        alerts.append(message)

    for clock in session.clocks():
        symbol = clock["symbol"]
        bar = session.advance(clock)
        if bar is None:
            continue
        bars[symbol] = bar
        for order in session.open_orders(symbol):
            fill, message = _meet(session, order, bar, now)
            if fill is not None:
                fills.append(fill)
            if message is not None:
                alert("order_filled" if fill else "order_closed", symbol, message)
        for watched in session.take_price_alerts(symbol, clock["close"], bar):
            alert("price_alert", symbol, f"{symbol} crossed {watched['direction']} {short(watched['price'])}")
    return Step(bars, tuple(fills), tuple(alerts))


def _meet(session: Session, order: Order, bar: Bar, now: datetime) -> tuple[Fill | None, str | None]:
    """What a candle does to a resting order: a fill, and what its owner is told."""
    request, account = order.request, session.account
    met = match(request, bar, triggered=order.triggered, slippage=account.slippage)
    if met.price is None:
        if request.time_in_force == "IOC":
            return None, _close(session, order, "cancelled", "the candle did not reach its price (IOC)", now)
        if met.triggered != order.triggered:
            session.update_order(order, status="open", now=now, filled=ZERO, triggered=True, reason=None)
        return None, None
    holding = session.holding(request.symbol)
    quantity = order.quantity
    if request.reduce_only:
        if holding.quantity * request.sign >= 0:
            return None, _close(session, order, "cancelled", "there is no position left to reduce", now)
        quantity = min(quantity, holding.quantity.copy_abs())
    fee = times(quantity, met.price, account.fee_rate)
    fill = Fill(order.order_id, request.symbol, request.side, quantity, met.price, fee, bar.ts)
    cash = plus(session.cash, cash_of(fill))
    after = holding.after(fill)
    if cash < 0 and after.quantity.copy_abs() > holding.quantity.copy_abs():
        return None, _close(session, order, "rejected", "there was not enough cash at its price", now)
    session.put_fill(fill, after, cash)
    session.update_order(order, status="filled", now=now, filled=quantity, triggered=True, reason=None)
    done = "bought" if request.side == "buy" else "sold"
    return fill, f"{done} {short(quantity)} {request.symbol} at {short(met.price)}"


def _close(session: Session, order: Order, status: str, reason: str, now: datetime) -> str:
    session.update_order(
        order, status=status, now=now, filled=order.filled_quantity, triggered=order.triggered, reason=reason
    )
    request = order.request
    return f"{request.side} {plain(order.quantity)} {request.symbol} was {status}: {reason}"


def configured(
    account: Account,
    *,
    confirm: bool | None,
    fee_rate: Decimal | None,
    slippage: Decimal | None,
    limits: dict[str, Any],
    steps: dict[str, Any],
) -> Account:
    """The account with other rules; what is None or left out stays.

    Raises:
        InvalidInputError: A limit or a step is not one.
        TooLargeError: There would be steps for more than 1,000 symbols.
    """
    for name in steps:
        if not is_symbol(name):
            raise InvalidInputError("the name of a symbol has 1 to 64 characters", field="steps")
    all_steps = {**account.steps, **{name: read_amount(step, field=f"steps.{name}") for name, step in steps.items()}}
    if len(all_steps) > _MAX_STEPS:
        raise TooLargeError(f"an account has steps for at most {_MAX_STEPS} symbols", field="steps")
    return replace(
        account,
        confirm=account.confirm if confirm is None else confirm,
        fee_rate=account.fee_rate if fee_rate is None else fee_rate,
        slippage=account.slippage if slippage is None else slippage,
        limits=account.limits.changed(limits),
        steps=all_steps,
    )
