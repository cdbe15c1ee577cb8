"""What `import_candles` takes and answers, as in `docs/api.md`."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from satchel.api.wire.amounts import Timeframe
from satchel.api.wire.types import StorableText, Timestamp
from satchel.market.candles import CandleSet

# Half of what a function can be handed; about 60,000 bars.
MAX_CSV_CHARS = 3_000_000


class ImportCandlesArguments(BaseModel):
    """Candles as CSV text, and what they are."""

    model_config = ConfigDict(extra="forbid")

    symbol: StorableText = Field(min_length=1, max_length=64, description="Such as BTC/USDT.")
    timeframe: Timeframe
    csv: str = Field(
        min_length=1,
        max_length=MAX_CSV_CHARS,
        description="A header with time, open, high, low, close and perhaps volume, then a line per bar in order.",
    )
    provider: StorableText = Field(
        default="csv", min_length=1, max_length=64, description="Who it is from; importing again replaces its candles."
    )
    source: StorableText = Field(default="imported by the user", max_length=500, description="What the data is.")
    licence: StorableText = Field(default="unknown", max_length=100)
    synthetic: bool = Field(default=False, description="Whether it was made up.")

    def to_set(self) -> CandleSet:
        """Which candles these are."""
        return CandleSet(
            provider=self.provider,
            symbol=self.symbol,
            timeframe=self.timeframe,
            source=self.source,
            licence=self.licence,
            synthetic=self.synthetic,
        )


class FetchCandlesArguments(BaseModel):
    """Which candles of an exchange."""

    model_config = ConfigDict(extra="forbid")

    exchange: Literal["binance"] = Field(default="binance", description="Whose; what anybody may ask of it.")
    symbol: StorableText = Field(min_length=1, max_length=64, description="Such as BTC/USDT.")
    timeframe: Timeframe
    since: Timestamp = Field(description="First bar.")
    until: Timestamp | None = Field(default=None, description="Bars before this; default: now. At most 20,000 bars.")


class ImportCandlesResult(BaseModel):
    """What is stored now."""

    symbol: str
    timeframe: str
    provider: str
    bars: int
