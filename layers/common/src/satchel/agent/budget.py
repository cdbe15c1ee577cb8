"""What a turn may cost, in calls, tokens and money, and what it has cost so far."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

_MILLION = Decimal(1_000_000)


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens; a cache write (of five minutes) is 1.25 times the input.

    Attributes:
        input: What is read.
        output: What is written.
        cache_read: What is read from the cache.
        long: What a request with a longer prompt than `_LONG_PROMPT_TOKENS` is priced at, all of it.
    """

    input: Decimal
    output: Decimal
    cache_read: Decimal
    long: "Price | None" = None


def _price(dollars: str, long: Price | None = None) -> Price:
    """From input, output and cache read, in the order of the price list."""
    given, made, read = map(Decimal, dollars.split())
    return Price(given, made, read, long)


# The list prices of November 2026 (https://platform.claude.com/docs/en/about-claude/pricing). A name stands for all
# that begin with it; the longest one counts.
PRICES: Mapping[str, Price] = {
    "claude-haiku-4-5": _price("1 5 0.10"),
    "claude-haiku-5-5": _price("0.10 0.50 0.01", _price("0.50 2.50 0.05")),
    "claude-sonnet-4": _price("3 15 0.30"),
    "claude-sonnet-5": _price("2 10 0.20"),
    "claude-sonnet-5-5": _price("2 10 0.10"),
    "claude-opus-4": _price("15 75 1.50"),
    "claude-opus-4-5": _price("5 25 0.50"),
    "claude-opus-4-6": _price("5 25 0.50"),
    "claude-opus-4-7": _price("5 25 0.50"),
    "claude-opus-4-8": _price("5 25 0.50"),
    "claude-opus-5": _price("5 25 0.50"),
    "claude-opus-5-5": _price("4 20 0.20"),
    "claude-fable-5": _price("10 50 1.00"),
    "claude-mythos-5": _price("10 50 1.00"),
}
# What is not listed is priced as the dearest, so that a budget never lets through more than it says.
DEAREST = max(PRICES.values(), key=lambda price: price.output)
_LONG_PROMPT_TOKENS = 100_000


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


def price_of(model: str) -> Price:
    """The price of a model; Bedrock's names have Anthropic's in the middle (eu.anthropic.claude-sonnet-5-v1:0)."""
    name = model[max(model.find("claude-"), 0) :]
    listed = max((known for known in PRICES if name.startswith(known)), key=len, default=None)
    return PRICES[listed] if listed else DEAREST


def cost_usd(usage: Usage, model: str) -> Decimal:
    """What one request of `usage` costs with `model`, in US dollars, exact."""
    price = price_of(model)
    if price.long and usage.total - usage.output > _LONG_PROMPT_TOKENS:
        price = price.long
    total = (
        usage.input * price.input
        + usage.output * price.output
        + usage.cache_read * price.cache_read
        + usage.cache_write * price.input * 5 / 4
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
    cost: Decimal = Decimal(0)

    def add(self, usage: Usage) -> None:
        """Count one request."""
        self.calls += 1
        self.usage += usage
        self.cost += cost_usd(usage, self.model)

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
