"""A trading account as a value."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from satchel.trading.risk import RiskLimits

PAPER = "paper"
# What a quantity is rounded down to where the account names no step of its own for the symbol.
DEFAULT_STEP = Decimal("0.00000001")


@dataclass(frozen=True, slots=True)
class Account:
    """An account and its rules.

    Attributes:
        account: Its name.
        mode: `paper`.
        currency: Of its cash and of all prices.
        cash: Money that is not in positions.
        confirm: Whether an order is previewed and then confirmed.
        fee_rate: Fee of a fill, as a share of its value.
        slippage: How much worse than the candle's price market and stop orders fill, as a share of it.
        limits: What the guard allows.
        steps: The smallest step of a quantity, by symbol.
    """

    account: str
    mode: str
    currency: str
    cash: Decimal
    confirm: bool
    fee_rate: Decimal
    slippage: Decimal
    limits: RiskLimits
    steps: Mapping[str, Decimal]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Account":
        """The account of a stored row."""
        values = dict(row)
        values["limits"] = RiskLimits.from_json(row["limits"])
        values["steps"] = {symbol: Decimal(step) for symbol, step in row["steps"].items()}
        return cls(**values)

    def step_of(self, symbol: str) -> Decimal:
        """The smallest step of a quantity of `symbol`."""
        return self.steps.get(symbol, DEFAULT_STEP)


# What everybody's paper account is like before they change it.
FRESH = Account(
    account=PAPER,
    mode="paper",
    currency="USD",
    cash=Decimal(100_000),
    confirm=True,
    fee_rate=Decimal("0.001"),
    slippage=Decimal("0.0005"),
    limits=RiskLimits(),
    steps={},
)
