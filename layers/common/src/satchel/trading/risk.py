"""The guard at the point of execution: what an account may not do, whoever asks."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, cast

from satchel.errors import InvalidInputError
from satchel.postgres.text import storable_text
from satchel.trading.money import plain, plus, read_amount, times
from satchel.trading.orders import Order, OrderRequest

_MAX_SYMBOLS = 1_000
_MAX_SYMBOL_CHARS = 64
# Of a number of orders.
_MAX_DIGITS = 6


@dataclass(frozen=True, slots=True)
class RiskLimits:
    """What the guard allows. Amounts are in the account's currency.

    Attributes:
        kill_switch: Nothing new is accepted but what reduces a position.
        allowed_symbols: Only these; empty allows all.
        max_order: Value of one order.
        max_day: Value of all orders of the last 24 hours.
        max_position: Value of one position.
        max_open_orders: How many orders may rest.
        price_band: How far, as a share of the last price, a limit may lie on the losing side of it.
    """

    kill_switch: bool = False
    allowed_symbols: tuple[str, ...] = ()
    max_order: Decimal = Decimal(25_000)
    max_day: Decimal = Decimal(100_000)
    max_position: Decimal = Decimal(50_000)
    max_open_orders: int = 50
    price_band: Decimal = Decimal("0.1")

    def as_json(self) -> dict[str, Any]:
        """As they are stored and shown: amounts as decimal text."""
        return {
            "kill_switch": self.kill_switch,
            "allowed_symbols": list(self.allowed_symbols),
            "max_order": plain(self.max_order),
            "max_day": plain(self.max_day),
            "max_position": plain(self.max_position),
            "max_open_orders": self.max_open_orders,
            "price_band": plain(self.price_band),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "RiskLimits":
        """What `as_json` wrote, now or by an earlier release; what is missing has its default."""
        known = {part.name: part.default for part in fields(cls)}
        return cls(**{name: _stored(value, known[name]) for name, value in data.items() if name in known})

    def changed(self, given: Mapping[str, Any]) -> "RiskLimits":
        """These limits with those that are given, as JSON data.

        Raises:
            InvalidInputError: There is no such limit, or a value is not one.
        """
        known = {part.name: part.default for part in fields(self)}
        for name in given:
            if name not in known:
                raise InvalidInputError(f"there is no limit {name!r}; there are {', '.join(known)}", field="limits")
        return replace(
            self, **{name: _limit(value, known[name], field=f"limits.{name}") for name, value in given.items()}
        )


def _stored(value: Any, default: Any) -> Any:
    if isinstance(default, bool):
        return value is True
    if isinstance(default, tuple):
        return tuple(str(symbol) for symbol in value)
    return int(value) if isinstance(default, int) else Decimal(value)


def _limit(value: Any, default: Any, *, field: str) -> Any:
    """`value` as a limit of the default's type. What it could not mean is refused: a guard must not guess."""
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise InvalidInputError("it is true or false", field=field)
        return value
    if isinstance(default, tuple):
        symbols = cast("list[Any]", value) if isinstance(value, list) else None
        if symbols is None or len(symbols) > _MAX_SYMBOLS or not all(is_symbol(symbol) for symbol in symbols):
            raise InvalidInputError(f"it is a list of at most {_MAX_SYMBOLS} symbols", field=field)
        return tuple(symbols)
    if isinstance(default, int):
        digits = str(value)
        if isinstance(value, bool | float) or not (
            digits.isascii() and digits.isdigit() and len(digits) <= _MAX_DIGITS
        ):
            raise InvalidInputError("it is a whole number", field=field)
        return int(digits)
    return read_amount(value, field=field)


def is_symbol(value: Any) -> bool:
    """Whether `value` can name a symbol: 1 to 64 characters that can be stored."""
    return isinstance(value, str) and 0 < len(value) <= _MAX_SYMBOL_CHARS and storable_text(value) == value


@dataclass(frozen=True, slots=True)
class Situation:
    """What the account is like when an order comes.

    Attributes:
        last_price: The symbol's last known price; None where there is no market data.
        replay_ended: There is no later candle: nothing could be filled any more.
        held: Units of the symbol held, negative for short.
        open_orders: How many orders rest.
        ordered_today: Value of the orders accepted in the last 24 hours.
        buying_power: Equity, less what is held and what resting orders would add.
    """

    last_price: Decimal | None
    replay_ended: bool = False
    held: Decimal = field(default=Decimal(0))
    open_orders: int = 0
    ordered_today: Decimal = field(default=Decimal(0))
    buying_power: Decimal = field(default=Decimal(0))


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known when an order comes.

    Attributes:
        situation: What the guard asks.
        price_at: When the last price is of; None where there is no market data.
        earlier: The order of the same client order id, if there is one.
        earlier_digest: The digest of what was asked with that one.
    """

    situation: Situation
    price_at: datetime | None
    earlier: Order | None
    earlier_digest: str | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an order is refused, and the argument it is about."""

    reason: str
    field: str | None = None


def reference_price(order: OrderRequest, last_price: Decimal | None) -> Decimal | None:
    """The price an order is valued at: its limit, else its stop, else the last price."""
    return order.price or order.stop_price or last_price


def check_order(order: OrderRequest, quantity: Decimal, situation: Situation, limits: RiskLimits) -> Refusal | None:
    """The first reason to refuse the order, or None.

    Args:
        order: What is asked.
        quantity: What would be accepted of it.
        situation: The account now.
        limits: What it may do.
    """
    for check in (_symbol, _size, _price, _amounts):
        refusal = check(order, quantity, situation, limits)
        if refusal is not None:
            return refusal
    return None


def _reduces(order: OrderRequest, quantity: Decimal, situation: Situation) -> bool:
    return situation.held * order.sign < 0 and quantity <= situation.held.copy_abs()


def _symbol(order: OrderRequest, quantity: Decimal, situation: Situation, limits: RiskLimits) -> Refusal | None:
    if limits.kill_switch and not _reduces(order, quantity, situation):
        return Refusal("the account's kill switch is on; only orders that reduce a position are accepted")
    if limits.allowed_symbols and order.symbol not in limits.allowed_symbols:
        return Refusal("the account may not trade this symbol", "symbol")
    if situation.replay_ended:
        return Refusal("the price is stale: there is no later candle of this symbol", "symbol")
    return None


def _size(order: OrderRequest, quantity: Decimal, situation: Situation, limits: RiskLimits) -> Refusal | None:
    if quantity <= 0:
        return Refusal("the quantity is below the symbol's smallest step", "quantity")
    if order.reduce_only and situation.held * order.sign >= 0:
        return Refusal("there is no position that this order could reduce", "reduce_only")
    if situation.open_orders >= limits.max_open_orders:
        return Refusal(f"{situation.open_orders} orders rest already, the most there may be")
    return None


def _price(order: OrderRequest, quantity: Decimal, situation: Situation, limits: RiskLimits) -> Refusal | None:
    del quantity
    last = situation.last_price
    if last is None:
        return None if order.price else Refusal("there is no price of this symbol", "symbol")
    edge = times(last, plus(Decimal(1), times(limits.price_band, order.sign)))
    if order.price is not None and (order.price - edge) * order.sign > 0:
        return Refusal(f"the limit is more than {limits.price_band:%} beyond the last price, {plain(last)}", "price")
    return None


def _amounts(order: OrderRequest, quantity: Decimal, situation: Situation, limits: RiskLimits) -> Refusal | None:
    price = reference_price(order, situation.last_price)
    if price is None or _reduces(order, quantity, situation):
        return None
    value = times(quantity, price)
    after = plus(situation.held, times(quantity, order.sign)).copy_abs()
    if value > limits.max_order:
        return Refusal(f"the order is worth {plain(value)}, over the limit of {plain(limits.max_order)}", "quantity")
    if plus(situation.ordered_today, value) > limits.max_day:
        return Refusal(f"the orders of 24 hours would be worth more than {plain(limits.max_day)}", "quantity")
    if times(after, price) > limits.max_position:
        return Refusal(f"the position would be worth more than {plain(limits.max_position)}", "quantity")
    if value > situation.buying_power:
        return Refusal(f"the order is worth {plain(value)}, more than the {plain(situation.buying_power)} there is")
    return None
