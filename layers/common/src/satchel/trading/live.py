"""Orders on a real exchange: previewed, journalled before they are sent, and never sent twice.

What is not known is said: an order whose answer was lost is `unknown` until the exchange has been asked for it by the
id that we gave it, and nothing sends it again.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Protocol

from satchel.errors import (
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    UnavailableError,
)
from satchel.trading.exchange import TOKEN_LIFE, token_hash
from satchel.trading.live_orders import (
    LIVE,
    Listing,
    LiveExchange,
    LiveOrder,
    LivePreview,
    LiveRefusedError,
    LiveStatus,
    LiveTrade,
    LiveUnknownError,
    Placed,
)
from satchel.trading.money import ZERO, down_to_step, plain, plus, times
from satchel.trading.orders import OrderRequest
from satchel.trading.risk import Refusal, RiskLimits, Situation, check_order

# The exchange takes no request that is older than ten seconds, so what it does not know a minute later never arrived.
SETTLED_AFTER = timedelta(seconds=60)
_STALE_AFTER = timedelta(seconds=120)
# All orders of 24 hours may be worth this many times one order.
_ORDERS_A_DAY = 10
_MAX_OPEN_ORDERS = 10
# What sending, and looking up what was sent, may take, in seconds: with less left, nothing is sent.
_SENDING_S = 14.0


@dataclass(frozen=True, slots=True)
class LiveRules:
    """What the deployment's owner allows.

    Attributes:
        owner: Whose the exchange's key is: nobody else may trade.
        max_order: The most one order may be worth.
        currency: Of `max_order`; symbols quoted in another are refused.
    """

    owner: str
    max_order: Decimal
    currency: str

    @property
    def limits(self) -> RiskLimits:
        """The guard's limits for these rules."""
        most = times(self.max_order, Decimal(_ORDERS_A_DAY))
        return RiskLimits(
            max_order=self.max_order, max_day=most, max_position=Decimal("1e30"), max_open_orders=_MAX_OPEN_ORDERS
        )


class Journal(Protocol):
    """What is written down of live orders (`satchel.trading.live_store.LiveJournal`)."""

    def get(self, client_order_id: str) -> LiveOrder | None: ...  # noqa: D102
    def usage(self, now: datetime) -> tuple[int, Decimal]: ...  # noqa: D102
    def put_token(self, token_hash: str, digest: str, expires_at: datetime, now: datetime) -> None: ...  # noqa: D102
    def intend(  # noqa: D102
        self, token_hash: str, order: LiveOrder, *, value: Decimal, limits: RiskLimits
    ) -> str | None: ...
    def record(self, order: LiveOrder) -> LiveOrder: ...  # noqa: D102


@dataclass(frozen=True)
class LiveDesk:
    """The live account of one user.

    Args:
        user_id: Who asks.
        rules: What the owner allows.
        exchange: Where orders go.
        journal: Where they are written down.
        clock: Now, aware UTC.
        new_token: Makes a token that nobody guesses.
        seconds_left: How long we have.
    """

    user_id: str
    rules: LiveRules
    exchange: LiveExchange
    journal: Journal
    clock: Callable[[], datetime]
    new_token: Callable[[], str]
    seconds_left: Callable[[], float]

    def trade(self, request: OrderRequest, *, confirm_token: str | None) -> LiveTrade:
        """Preview an order, or place the one that a token stands for.

        The same token with the same order, or the same client order id, is answered with that order as it is now.

        Raises:
            NotFoundError: The caller has no live account, or the exchange no such symbol.
            ForbiddenError: The guard or the exchange refuses the order; nothing was placed.
            ConflictError: The client order id stands for another order.
            PreconditionFailedError: The token is unknown, expired, or stands for another order.
            UnavailableError: The exchange does not answer; nothing was placed.
        """
        self._check_owner()
        given_hash = token_hash(confirm_token) if confirm_token else ""
        client_order_id = request.client_order_id or f"satchel-{given_hash[:24]}"
        digest = request.digest(LIVE)
        if (confirm_token or request.client_order_id) and (known := self.journal.get(client_order_id)):
            if known.digest != digest:
                raise ConflictError("this id or token stands for another order", field="client_order_id")
            return LiveTrade(order=self._learned(known))
        if request.type not in {"market", "limit"} or request.reduce_only:
            raise InvalidInputError("a live order is a market or a limit order, and not reduce_only", field="type")
        preview = self._preview(request)
        if confirm_token is None:
            token, now = self.new_token(), self.clock()
            expires_at = now + TOKEN_LIFE
            self.journal.put_token(token_hash(token), digest, expires_at, now)
            return LiveTrade(preview=preview, confirm_token=token, expires_at=expires_at)
        return LiveTrade(order=self._send(preview, given_hash, client_order_id, digest))

    def order(self, client_order_id: str, *, cancel: bool) -> LiveOrder:
        """An order as the exchange knows it now; cancelled first, if that is asked for and it rests.

        Raises:
            NotFoundError: The caller has no such order.
            ForbiddenError: It cannot be cancelled.
            UnavailableError: The exchange does not answer.
        """
        self._check_owner()
        known = self.journal.get(client_order_id)
        if known is None:
            raise NotFoundError("there is no such order", field="client_order_id")
        known = self._learned(known)
        if cancel and known.status == "open":
            try:
                self.exchange.cancel(known.request.symbol, client_order_id)
            except LiveRefusedError as error:
                raise ForbiddenError(f"the exchange does not cancel it: {error}") from error
            known = self._learned(known)
        return known

    def _check_owner(self) -> None:
        if self.user_id != self.rules.owner:
            raise NotFoundError("there is no account of this name", field="account")

    def _preview(self, request: OrderRequest) -> LivePreview:
        listing = self.exchange.listing(request.symbol)
        request = replace(request, quantity=down_to_step(request.quantity, listing.step))
        price = request.price or listing.price
        value = times(request.quantity, price)
        if reason := self._refusal(request, listing, value):
            raise ForbiddenError(f"the order is refused: {reason.reason}", field=reason.field)
        spent, amount = (listing.quote, value) if request.side == "buy" else (listing.base, request.quantity)
        free_after = plus(listing.free.get(spent, ZERO), amount.copy_negate())
        return LivePreview(request, price, listing.price_at, value, free_after)

    def _refusal(self, request: OrderRequest, listing: Listing, value: Decimal) -> Refusal | None:
        limits = self.rules.limits
        if listing.quote != self.rules.currency:
            return Refusal(
                f"the owner's limit is in {self.rules.currency}, and this is paid in {listing.quote}", "symbol"
            )
        if self.clock() - listing.price_at > _STALE_AFTER:
            return Refusal("the exchange's price is stale", "symbol")
        if request.price is not None and down_to_step(request.price, listing.tick) != request.price:
            return Refusal(f"prices are multiples of {plain(listing.tick)}", "price")
        if request.quantity > 0 and value < listing.min_value:
            return Refusal(f"the exchange takes no order under {plain(listing.min_value)} {listing.quote}", "quantity")
        # The guard lets through whatever makes a position smaller; what leaves this account is limited all the same.
        if value > limits.max_order:
            return Refusal(
                f"the order is worth {plain(value)}, over the limit of {plain(limits.max_order)}", "quantity"
            )
        open_orders, ordered_today = self.journal.usage(self.clock())
        situation = Situation(
            last_price=listing.price,
            held=listing.free.get(listing.base, ZERO),
            open_orders=open_orders,
            ordered_today=ordered_today,
            buying_power=listing.free.get(listing.quote, ZERO) if request.side == "buy" else ZERO,
        )
        return check_order(request, request.quantity, situation, limits)

    def _send(self, preview: LivePreview, given_hash: str, client_order_id: str, digest: str) -> LiveOrder:
        if self.seconds_left() < _SENDING_S:
            raise UnavailableError("the exchange is slow, and nothing was sent; use the token again", retry_after_s=1)
        now = self.clock()
        request = replace(preview.request, client_order_id=client_order_id)
        order = LiveOrder(client_order_id, digest, request, "intended", None, ZERO, None, None, now, now)
        refused = self.journal.intend(given_hash, order, value=preview.value, limits=self.rules.limits)
        if refused:
            raise PreconditionFailedError(refused, field="confirm_token")
        try:
            return self._recorded(order, self.exchange.place(request, client_order_id))
        except LiveRefusedError as error:
            return self._after_refusal(order, str(error))
        except LiveUnknownError:
            return self._learned(self._told(order, "unknown", _ASK_AGAIN))

    def _after_refusal(self, order: LiveOrder, reason: str) -> LiveOrder:
        """The refusal may be of an id that the exchange has already: then the order there counts, if it is this one."""
        try:
            found = self.exchange.find(order.request.symbol, order.client_order_id)
        except UnavailableError:
            return self._told(order, "unknown", _ASK_AGAIN)
        if found is not None and _is(found, order.request):
            return self._recorded(order, found)
        return self._told(order, "rejected", f"the exchange refuses it: {reason}")

    def _learned(self, order: LiveOrder) -> LiveOrder:
        """The order with what the exchange says of it, where that may still change."""
        if order.status in {"filled", "cancelled", "rejected", "not_placed"}:
            return order
        try:
            found = self.exchange.find(order.request.symbol, order.client_order_id)
        except UnavailableError:
            if order.status == "open":
                raise
            return self._told(order, "unknown", _ASK_AGAIN)
        if found is not None:
            return self._recorded(order, found)
        if order.status == "open":
            return order
        if self.clock() - order.placed_at > SETTLED_AFTER:
            return self._told(order, "not_placed", "it never arrived; a new preview may be made")
        return self._told(order, "unknown", _ASK_AGAIN)

    def _recorded(self, order: LiveOrder, placed: Placed) -> LiveOrder:
        return self.journal.record(
            replace(
                order,
                status=placed.status,
                exchange_order_id=placed.exchange_order_id,
                filled=placed.filled,
                average=placed.average,
                reason=None,
                updated_at=self.clock(),
            )
        )

    def _told(self, order: LiveOrder, status: LiveStatus, reason: str) -> LiveOrder:
        return self.journal.record(replace(order, status=status, reason=reason, updated_at=self.clock()))


_ASK_AGAIN = (
    "the exchange's answer was lost and it does not know the order yet; ask again with the same token or id, which "
    "looks it up and sends nothing"
)


def _is(placed: Placed, request: OrderRequest) -> bool:
    return (placed.symbol, placed.side, placed.quantity) == (request.symbol, request.side, request.quantity)
