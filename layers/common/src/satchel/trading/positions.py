"""Open positions as the document shows them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from satchel.trading.holdings import Holding
from satchel.trading.money import short


@dataclass(frozen=True, slots=True)
class Position:
    """An open position with its last known price, both None where there is no market data.

    `entry_price` is the average, to the eighteenth digit; `unrealised` is exact: it comes from what was paid.
    """

    ticker: str
    side: Literal["long", "short"]
    size: Decimal
    entry_price: Decimal
    price: Decimal | None
    price_at: datetime | None
    unrealised: Decimal | None

    def as_numbers(self) -> dict[str, Any]:
        """In the document's fields, amounts as `Decimal`; a price that is not known is left out."""
        amounts = {"size": self.size, "entryPrice": self.entry_price}
        if self.price is not None and self.unrealised is not None:
            amounts |= {"currentPrice": self.price, "unrealizedPnL": self.unrealised}
        # Without the zeros at the end that a division to the eighteenth digit leaves.
        exact = {name: Decimal(short(amount)) for name, amount in amounts.items()}
        return {"ticker": self.ticker, "side": self.side, **exact}


def position_of(row: Mapping[str, Any]) -> Position:
    """The position of a stored holding with its price."""
    holding = Holding(row["quantity"], row["cost"], row["realised"], row["fees"])
    price = row["price"]
    return Position(
        ticker=row["symbol"],
        side="long" if holding.quantity > 0 else "short",
        size=holding.quantity.copy_abs(),
        entry_price=holding.entry_price,
        price=price,
        price_at=row["price_at"],
        unrealised=None if price is None else holding.unrealised(price),
    )
