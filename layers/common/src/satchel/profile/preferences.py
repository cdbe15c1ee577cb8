"""What a user tells us about themselves, and how it reads in `context://user-profile`."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from satchel.profile.usage import Habit

# Field name, as stored and as in the HTTP API, to the words of the profile; in the order of the document.
_LINES = {
    "trading_experience": "Trading experience",
    "preferred_timeframes": "Preferred timeframes",
    "risk_tolerance": "Risk tolerance",
    "focus": "Focus",
    "favorite_indicators": "Favorite indicators",
    "active_pairs": "Active pairs",
}


@dataclass(frozen=True)
class Preferences:
    """A user's preferences at one version.

    Attributes:
        version: 0 where nothing is stored; rises by one with each write.
        values: Field name to text or list of texts; only what is known.
        custom_prompt: The user's own instructions, verbatim; empty where there are none.
    """

    version: int = 0
    values: dict[str, str | list[str]] = field(default_factory=dict[str, str | list[str]])
    custom_prompt: str = ""


def preference_lines(preferences: Preferences) -> list[str]:
    """The known preferences as `Risk tolerance: Medium`, in the order of the document."""
    lines: list[str] = []
    for name, words in _LINES.items():
        value = preferences.values.get(name)
        if value:
            lines.append(f"{words}: {', '.join(value) if isinstance(value, list) else value}")
    return lines


def profile_text(preferences: Preferences, habits: Sequence[Habit]) -> str:
    """The text of `context://user-profile`: what is stored, then what usage shows, marked as inferred."""
    lines = [f"- {line}" for line in preference_lines(preferences)]
    lines += [f"- {habit.words} (inferred): {_named(habit)}" for habit in habits]
    return "\n".join(["User Profile:", *(lines or ["- Nothing is known yet."])])


def system_prompt_text(preferences: Preferences) -> str:
    """The text of `context://system-prompt`: the user's instructions as written; empty where there are none."""
    return f"Custom Instructions:\n{preferences.custom_prompt}" if preferences.custom_prompt else ""


def _named(habit: Habit) -> str:
    return ", ".join(
        f"{mention.name} ({len(mention.message_ids)} messages, last {mention.message_ids[-1]})"
        for mention in habit.mentions
    )
