"""What `context://conversation-summary` is made of, and its text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from satchel.memory.age import age_in_words
from satchel.memory.attempts import Attempt, attempt_line
from satchel.memory.excerpt import excerpt
from satchel.memory.focus import infer_topic
from satchel.memory.messages import Message

RECENT_WINDOW = 50
SHOWN_RECENT = 10
SHOWN_RELEVANT = 5
RECENT_CHARS = 100
RELEVANT_CHARS = 150
NO_HISTORY = "No recent conversation history."


class RecentMessages(Protocol):
    """Where the newest messages come from."""

    def recent_messages(self, limit: int) -> list[Message]:
        """The newest `limit` messages over all sessions that somebody said, newest first."""
        ...


@dataclass(frozen=True)
class Summary:
    """What the summary says, before it is put into words.

    Attributes:
        recent: The newest messages, oldest first.
        relevant: Messages of past discussions that bear on `query`, oldest first.
        preferences: What the user is known to prefer, one line each.
        query: What the user is concerned with now.
    """

    recent: Sequence[Message]
    relevant: Sequence[Message]
    preferences: Sequence[str]
    query: str


@dataclass(frozen=True)
class Deed:
    """Something that was done beside the talk, such as a strategy that was tested.

    Attributes:
        at: When.
        words: One line, without the time.
    """

    at: datetime
    words: str


@dataclass(frozen=True)
class Wording:
    """A model's words for a summary.

    Attributes:
        recent: What happened in the recent messages, in order.
        past: By the place of a past message in `Summary.relevant`, what it tells.
        focus: What the user is working on.
    """

    recent: tuple[str, ...]
    past: Mapping[int, str]
    focus: str


def gather_summary(
    *,
    store: RecentMessages,
    find_relevant: Callable[[str], Sequence[Message]],
    preferences: Sequence[str],
    query: str | None = None,
) -> Summary | None:
    """Collect what the summary is made of; None where the user has not said anything yet.

    Args:
        store: The user's messages.
        find_relevant: Past messages that bear on a query, best first.
        preferences: What the user is known to prefer.
        query: What to look for in the past; the last user message where it is not given.
    """
    newest_first = store.recent_messages(RECENT_WINDOW)
    last_said = next((message.content for message in newest_first if message.role == "user"), None)
    if last_said is None:
        return None
    concern = query or last_said
    recent = newest_first[:SHOWN_RECENT][::-1]
    relevant = _not_shown(find_relevant(concern), recent)
    return Summary(
        recent=recent,
        relevant=sorted(relevant, key=lambda message: (message.created_at, message.seq)),
        preferences=preferences,
        query=concern,
    )


def summary_text(
    summary: Summary | None,
    *,
    now: datetime,
    wording: Wording | None = None,
    attempts: Sequence[Attempt] = (),
    deeds: Sequence[Deed] = (),
) -> str:
    """The summary in words; its sections are those of the contract.

    Args:
        summary: What it says; None where the user has not said anything yet.
        now: What ages are counted to.
        wording: A language model's words for the lines; without, the messages speak for themselves, cut.
        attempts: What was tried before, oldest first.
        deeds: Strategies that were worked on, newest first.
    """
    if summary is None:
        return NO_HISTORY
    summarised = " (summarised)" if wording else ""
    messages = "message" if len(summary.recent) == 1 else "messages"
    lines = ["Recent Conversation Summary:", "", f"Last {len(summary.recent)} {messages}{summarised}:"]
    lines += [f"- {line}" for line in (wording.recent if wording else _recent_lines(summary))]
    past: Mapping[int, str] = wording.past if wording else {}
    if summary.relevant:
        lines += ["", "Relevant past discussions:"]
        lines += [
            f"- {age_in_words(message.created_at, now)}: {past.get(index) or excerpt(message.content, RELEVANT_CHARS)}"
            for index, message in enumerate(summary.relevant)
        ]
    if attempts:
        lines += ["", "Already tried:"]
        lines += [f"- {age_in_words(attempt.at, now)}: {attempt_line(attempt)}" for attempt in attempts]
    if deeds:
        lines += ["", "Strategies worked on:"]
        lines += [f"- {age_in_words(deed.at, now)}: {deed.words}" for deed in deeds]
    if summary.preferences:
        lines += ["", "Known preferences:", *(f"- {line}" for line in summary.preferences)]
    focus = wording.focus if wording else infer_topic(summary.query)
    return "\n".join([*lines, "", f"Current focus: {focus}"])


def _recent_lines(summary: Summary) -> list[str]:
    return [f"{message.role}: {excerpt(message.content, RECENT_CHARS)}" for message in summary.recent]


def _not_shown(found: Sequence[Message], recent: Sequence[Message]) -> list[Message]:
    shown = {message.content for message in recent}
    kept: list[Message] = []
    for message in found:
        if message.content not in shown:
            shown.add(message.content)
            kept.append(message)
    return kept[:SHOWN_RELEVANT]
