"""The values of a session and of its blocks, named as in the batch document."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

ANALYSIS_VERSION = "4"
"""Grows when the same request may get another answer: a new model file, another rule."""

RULES_MODEL = "rules"
GapMode = Literal["hard", "soft"]
Similarity = Literal["continuity", "cosine"]
Mode = Literal["INCREMENTAL", "FULL"]


class Message(NamedTuple):
    """One message of a session.

    Attributes:
        message_id: Unique in its session.
        role: `user`, `assistant`, `system` or `tool`.
        content: What was said.
        at: When, aware; None where it is not known (benchmarks only: the wire demands it).
        speaker: Who spoke, where several share a role; "" where not known.
    """

    message_id: str
    role: str
    content: str
    at: datetime | None = None
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Tags:
    """What a block is about. An empty text or list: nothing was found, and nothing is guessed."""

    CONTEXT: str = ""
    PROBLEM: str = ""
    TRIAL: tuple[str, ...] = ()
    SOLUTION: str = ""
    INSIGHT: str = ""


class Snippet(NamedTuple):
    """A piece of code, configuration or a command, verbatim."""

    language: str
    content: str
    source_message_id: str


@dataclass(frozen=True, slots=True)
class KnownBlock:
    """A block that exists before a build.

    Attributes:
        block_id: Its id, kept.
        message_ids: Its messages in order; they need not be among those sent.
        tags: What is known of it; None where nothing was given.
        last_message: Its newest message, where that is not sent.
        snippets: Code found in its messages before; kept for those that are not sent.
    """

    block_id: str
    message_ids: Sequence[str]
    tags: Tags | None = None
    last_message: Message | None = None
    snippets: Sequence[Snippet] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """The document's options and ours; every default is the document's.

    Attributes:
        time_gap_minutes: `hard`: a longer pause opens a block. `soft`: the unit in which pauses are weighed.
        shift_low_sim: A score at or under it opens a block.
        shift_high_sim: A score at or over it appends.
        context: How many messages back count as context, 1 to 30.
        gap_mode: Whether the pause is a rule (`hard`) or evidence (`soft`).
        similarity: `continuity` is the learned score; `cosine` the literal one, of term counts.
        max_llm_calls: At most this many questions to the model in one build.
        summarize: Whether changed blocks get tags.
        explain: Whether the answer tells each message's score and rule.
        refresh_llm: Ask the model again though an answer is stored.
    """

    time_gap_minutes: float = 10
    shift_low_sim: float = 0.20
    shift_high_sim: float = 0.45
    context: int = 6
    gap_mode: GapMode = "hard"
    similarity: Similarity = "continuity"
    max_llm_calls: int = 40
    summarize: bool = True
    explain: bool = False
    refresh_llm: bool = False

    @property
    def midpoint(self) -> float:
        """Where a score of the zone falls when nobody decides it."""
        return (self.shift_low_sim + self.shift_high_sim) / 2


@dataclass(frozen=True, slots=True)
class Session:
    """What a build is given, in order of time.

    Attributes:
        session_id: Names the session; part of new block ids.
        mode: `FULL` decides every message; `INCREMENTAL` keeps those already in a block.
        messages: Sorted by `in_order`.
        known: The blocks there are.
    """

    session_id: str
    mode: Mode
    messages: Sequence[Message]
    known: Sequence[KnownBlock] = field(default=())


def in_order(messages: Sequence[Message]) -> list[Message]:
    """The messages by time, then by id: the document's order.

    Raises:
        TypeError: A message has no time.
    """
    return sorted(messages, key=lambda message: (message.at, message.message_id))
