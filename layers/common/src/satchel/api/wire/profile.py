"""What `/v1/preferences` takes and answers."""

from typing import Annotated, Any, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from satchel.api.wire.types import StorableText
from satchel.profile.preferences import Preferences

_MAX_ITEMS = 50
_Words = Annotated[StorableText, Field(min_length=1, max_length=200)]


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError("there is no time zone of this name") from error
    return name


class PreferencesBody(BaseModel):
    """What a user tells us about themselves. What is left out is unknown; a write replaces all of it."""

    model_config = ConfigDict(extra="forbid")

    trading_experience: _Words | None = Field(default=None, description="Such as `Intermediate`.")
    preferred_timeframes: list[_Words] = Field(
        default_factory=list[str], max_length=_MAX_ITEMS, description="`1h`, `4h`."
    )
    risk_tolerance: _Words | None = Field(default=None, description="Such as `Medium`.")
    focus: _Words | None = Field(default=None, description="Such as `Swing trading with technical indicators`.")
    favorite_indicators: list[_Words] = Field(default_factory=list[str], max_length=_MAX_ITEMS, description="`RSI`.")
    active_pairs: list[_Words] = Field(default_factory=list[str], max_length=_MAX_ITEMS, description="`BTC/USDT`.")
    time_zone: Annotated[_Words, AfterValidator(_known_zone)] | None = Field(
        default=None, description="IANA name, such as `Asia/Seoul`: what `yesterday` means to this user."
    )
    custom_prompt: StorableText = Field(
        default="", max_length=20_000, description="The user's own instructions, appended last to the system prompt."
    )

    @classmethod
    def of(cls, preferences: Preferences) -> Self:
        """`preferences` as they go out."""
        return cls.model_validate({**preferences.values, "custom_prompt": preferences.custom_prompt})

    def to_preferences(self) -> Preferences:
        """The preferences as the store takes them: known fields only."""
        values: dict[str, Any] = self.model_dump(exclude={"custom_prompt"}, exclude_defaults=True)
        return Preferences(values=values, custom_prompt=self.custom_prompt)
