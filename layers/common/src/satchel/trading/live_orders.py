"""What a live order is, and what trading needs of a real exchange. Pure values and one port."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal, Protocol

from satchel.trading.orders import OrderRequest

LIVE = "live"
LiveStatus = Literal["intended", "unknown", "open", "filled", "cancelled", "rejected", "not_placed"]


@dataclass(frozen=True, slots=True)
class Listing:
    """A symbol as the exchange lists it.

    Attributes:
        base: What is bought and sold.
        quote: What it is paid with.
        step: Quantities are multiples of this.
        tick: Prices are multiples of this.
        min_value: The least an order may be worth.
        price: The last price.
        price_at: When that was.
        free: What is free of the base and of the quote.
    """

    base: str
    quote: str
    step: Decimal
    tick: Decimal
    min_value: Decimal
    price: Decimal
    price_at: datetime
    free: Mapping[str, Decimal]


@dataclass(frozen=True, slots=True)
class Placed:
    """An order as the exchange knows it; `average` is the price of what was filled."""

    exchange_order_id: str
    symbol: str
    side: str
    quantity: Decimal
    status: Literal["open", "filled", "cancelled", "rejected"]
    filled: Decimal
    average: Decimal | None


class LiveRefusedError(Exception):
    """The exchange says no: nothing was placed."""


class LiveUnknownError(Exception):
    """The exchange's answer is not known: the order may or may not have been placed."""


class LiveExchange(Protocol):
    """A real exchange's spot market."""

    name: str

    def listing(self, symbol: str) -> Listing:
        """A symbol with its price and what is free, asked for now.

        Raises:
            NotFoundError: The exchange has no such symbol.
            UnavailableError: It does not answer.
        """
        ...

    def place(self, order: OrderRequest, client_order_id: str) -> Placed:
        """Send an order, once.

        Raises:
            LiveRefusedError: It was refused.
            LiveUnknownError: Nobody knows.
        """
        ...

    def find(self, symbol: str, client_order_id: str) -> Placed | None:
        """The order of a client id; None where the exchange has none.

        Raises:
            UnavailableError: It does not answer.
        """
        ...

    def cancel(self, symbol: str, client_order_id: str) -> None:
        """Cancel an order.

        Raises:
            LiveRefusedError: It cannot be cancelled.
            UnavailableError: It does not answer; the order may or may not be cancelled.
        """
        ...


@dataclass(frozen=True, slots=True)
class LiveOrder:
    """A journalled order.

    Attributes:
        client_order_id: Its id, ours.
        digest: Of the order as it was asked for.
        request: As it was sent: the quantity is rounded down to the step.
        status: What is known of it. `intended` is journalled and perhaps sent; `not_placed` never arrived.
        exchange_order_id: Its id at the exchange; None where that is not known.
        filled: How much was done.
        average: At what price.
        reason: Why it was refused, or what is to be done.
        placed_at: When it was journalled.
        updated_at: When its status was last learned.
    """

    client_order_id: str
    digest: str
    request: OrderRequest
    status: LiveStatus
    exchange_order_id: str | None
    filled: Decimal
    average: Decimal | None
    reason: str | None
    placed_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class LivePreview:
    """What an order would be; `free_after` is what would be left of what it is paid with."""

    request: OrderRequest
    price: Decimal
    price_at: datetime
    value: Decimal
    free_after: Decimal


@dataclass(frozen=True, slots=True)
class LiveTrade:
    """A preview with the token that confirms it, or the order."""

    preview: LivePreview | None = None
    confirm_token: str | None = None
    expires_at: datetime | None = None
    order: LiveOrder | None = None
