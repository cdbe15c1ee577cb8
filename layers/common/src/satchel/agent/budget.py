"""What a turn may cost, in calls, tokens and money, and what it has cost so far."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

_MILLION = Decimal(1_000_000)


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens; cache reads and writes are 0.1 and 1.25 of the input's price."""

    input: Decimal
    output: Decimal


# Published list prices by family (https://www.anthropic.com/pricing). What is not listed is priced as the dearest, so
# that a budget never lets through more than it says.
PRICES: Mapping[str, Price] = {
    "claude-haiku": Price(Decimal(1), Decimal(5)),
    "claude-sonnet": Price(Decimal(3), Decimal(15)),
    "claude-opus": Price(Decimal(15), Decimal(75)),
}
DEAREST = max(PRICES.values(), key=lambda price: price.output)


@dataclass(frozen=True)
class Usage:
    """Tokens, as the API counts them: `input` is without what the cache read or wrote."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @classmethod
    def of(cls, usage: Mapping[str, Any]) -> "Usage":
        """From the API's `usage` object, or from what `as_dict` made."""
        return cls(
            input=int(usage.get("input_tokens") or 0),
            output=int(usage.get("output_tokens") or 0),
            cache_read=int(usage.get("cache_read_input_tokens") or 0),
            cache_write=int(usage.get("cache_creation_input_tokens") or 0),
        )

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )

    @property
    def total(self) -> int:
        """All tokens, cached ones too."""
        return self.input + self.output + self.cache_read + self.cache_write

    @property
    def cache_read_share(self) -> float:
        """Share of the input that the cache read, in [0, 1]."""
        whole = self.input + self.cache_read + self.cache_write
        return round(self.cache_read / whole, 4) if whole else 0.0

    def as_dict(self) -> dict[str, int]:
        """With the API's names."""
        return {
            "input_tokens": self.input,
            "output_tokens": self.output,
            "cache_read_input_tokens": self.cache_read,
            "cache_creation_input_tokens": self.cache_write,
        }


def cost_usd(usage: Usage, model: str) -> Decimal:
    """What `usage` costs with `model`, in US dollars, exact."""
    # Bedrock's names have the same family in the middle: eu.anthropic.claude-sonnet-5-v1:0.
    price = next((price for family, price in PRICES.items() if family in model), DEAREST)
    read, write = price.input / 10, price.input * 5 / 4
    total = (
        usage.input * price.input + usage.output * price.output + usage.cache_read * read + usage.cache_write * write
    )
    return total / _MILLION


@dataclass(frozen=True)
class Budget:
    """The most that one turn may take.

    Attributes:
        calls: Requests to the model.
        tokens: All tokens together.
        usd: US dollars.
    """

    calls: int = 12
    tokens: int = 400_000
    usd: Decimal = Decimal(1)


@dataclass
class Spending:
    """What a turn has taken so far, resumed parts included."""

    budget: Budget
    model: str
    calls: int = 0
    usage: Usage = field(default_factory=Usage)

    def add(self, usage: Usage) -> None:
        """Count one request."""
        self.calls += 1
        self.usage += usage

    @property
    def cost(self) -> Decimal:
        """So far, in US dollars."""
        return cost_usd(self.usage, self.model)

    @property
    def exhausted(self) -> str | None:
        """Which part of the budget is spent, in words; None while there is some of each."""
        if self.calls >= self.budget.calls:
            return f"{self.budget.calls} model calls"
        if self.usage.total >= self.budget.tokens:
            return f"{self.budget.tokens} tokens"
        if self.cost >= self.budget.usd:
            return f"{self.budget.usd} USD"
        return None


def refusal(spent: str) -> str:
    """What the user is told when the budget of a turn is spent."""
    return (
        f"I have to stop here: this turn has used its budget of {spent}. What was done so far is kept; "
        "ask me to go on if you want me to continue."
    )
