"""Positions from fills, exactly: what is held, what it cost, what was earned."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from satchel.trading.money import ZERO, part, plus, times
from satchel.trading.orders import Fill


@dataclass(frozen=True, slots=True)
class Holding:
    """One symbol in one account.

    Attributes:
        quantity: Units held; negative for a short position.
        cost: What they were bought for (negative: what they were sold for). A part that is closed takes its share of
            it along, to the eighteenth digit; the rest stays, so that sums are exact.
        realised: Profit of what was closed, before fees.
        fees: Fees paid.
    """

    quantity: Decimal = ZERO
    cost: Decimal = ZERO
    realised: Decimal = ZERO
    fees: Decimal = ZERO

    def after(self, fill: Fill) -> "Holding":
        """The holding once `fill` is done."""
        signed = fill.quantity if fill.side == "buy" else fill.quantity.copy_negate()
        fees = plus(self.fees, fill.fee)
        quantity = plus(self.quantity, signed)
        if not self.quantity or self.quantity.is_signed() == signed.is_signed():
            return Holding(quantity, plus(self.cost, times(signed, fill.price)), self.realised, fees)
        held = self.quantity.copy_abs()
        closed = min(fill.quantity, held).copy_sign(signed)
        cost_closed = part(self.cost, closed.copy_abs(), held) if closed.copy_abs() < held else self.cost
        opened = plus(signed, closed.copy_negate())
        return Holding(
            quantity=quantity,
            cost=plus(self.cost, cost_closed.copy_negate(), times(opened, fill.price)),
            # What closing brings in is the closed part, its sign turned, at the price of the fill.
            realised=plus(self.realised, times(closed.copy_negate(), fill.price), cost_closed.copy_negate()),
            fees=fees,
        )

    def value(self, price: Decimal) -> Decimal:
        """What it is worth at `price`; negative for a short position."""
        return times(self.quantity, price)

    def unrealised(self, price: Decimal) -> Decimal:
        """Profit of what is still held, at `price`, before fees."""
        return plus(self.value(price), self.cost.copy_negate())

    @property
    def entry_price(self) -> Decimal:
        """The average price of what is held, to the eighteenth digit."""
        return part(self.cost, Decimal(1), self.quantity)


def holding_of(fills: Iterable[Fill]) -> Holding:
    """The holding that these fills of one symbol, in their order, amount to."""
    holding = Holding()
    for fill in fills:
        holding = holding.after(fill)
    return holding


def cash_of(fill: Fill) -> Decimal:
    """What a fill does to the account's cash."""
    paid = times(fill.quantity, fill.price)
    return plus(paid if fill.side == "sell" else paid.copy_negate(), fill.fee.copy_negate())
