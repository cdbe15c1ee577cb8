"""Causal features of a message: what its window of earlier messages says about whether it goes on or starts anew.

A feature looks at the message and at most `window.WINDOW` messages before it, never at a decision and never ahead, so
scoring a session in parts gives the scores of the whole. All features are integers; -1 means not known.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from satchel.blocks import text as texts
from satchel.blocks.exchange import Pauses, People
from satchel.blocks.text import Text
from satchel.blocks.topics import Topics
from satchel.blocks.vocabulary import Lexicon, Phrases, Words

NAMES = (
    "gap_s", "gap_ratio", "long_gap_ago",
    "role", "previous_role", "assistants", "speaker_ago", "speakers", "run", "newcomer_ago", "mention_ago",
    "addressed", "style_shift",
    "overlap_1", "overlap_2", "overlap_context", "shared_1", "shared_context", "new_weight", "rare_context",
    "topic_terms", "topic_1", "topic_own",
    "chars", "words", "terms", "previous_chars", "previous_words",
    "question_ago", "thanks_ago", "greeting_ago", "opening", "closing", "previous_2_closing",
)  # fmt: skip
FLAGS = (
    *(f"now_{bit}" for bit in range(texts.CUE_BITS)),
    *(f"before_{bit}" for bit in range(texts.CUE_BITS)),
)
# All numbers lie in [-NARROW - 1, NARROW] but these.
NARROW = 100
WIDE = frozenset((
    "gap_s", "gap_ratio", "new_weight", "chars", "words", "terms", "previous_chars", "previous_words", "topic_terms",
    "shared_1", "shared_context", "rare_context", "opening", "closing", "previous_2_closing",
))  # fmt: skip


class Turn(NamedTuple):
    """One message as the features need it.

    `speaker` is "" where it is not known; `gap_s` are seconds since the message before it, None where not known.
    """

    text: str
    role: str
    speaker: str
    gap_s: float | None


class Seen(NamedTuple):
    """What the features say of one turn.

    Attributes:
        numbers: As `NAMES`.
        flags: As `FLAGS`, one bit each.
        text: What the turn's text says on its own.
        repeats: Whether it says the same as the turn before it.
    """

    numbers: tuple[int, ...]
    flags: int
    text: Text
    repeats: bool


class Extractor:
    """What the features say of one turn after the other.

    Args:
        lexicon: The learned words.
        context: How many messages back count as the context (`maxLastMessagesForContext`).
    """

    def __init__(self, lexicon: Lexicon, *, context: int = 6) -> None:
        self._pauses, self._people, self._words = Pauses(), People(), Words(lexicon.weight, context)
        self._topics, self._phrases = Topics(lexicon.topic), Phrases(lexicon)
        self._before = Text([], (), 0, 0, "")
        self._previous: str | None = None
        self._index = 0

    def observe(self, turn: Turn) -> Seen:
        """What the features say of the next turn of the session."""
        content, role, speaker, gap_s = turn
        index, before, now = self._index, self._before, texts.read(content)
        terms, words = now.terms, now.words
        numbers = (
            *self._pauses.observe(index, gap_s),
            *self._people.observe(index, role, speaker, now),
            *self._words.observe(index, terms),
            *self._topics.observe(index, speaker or role, terms),
            min(now.chars, 2000), min(len(words), 300), len(terms), min(before.chars, 2000),
            min(len(before.words), 300),
            *self._phrases.observe(index, now),
        )  # fmt: skip
        seen = Seen(numbers, now.cues | before.cues << texts.CUE_BITS, now, content == self._previous)
        self._before, self._previous, self._index = now, content, index + 1
        return seen


def extract(turns: Iterable[Turn], lexicon: Lexicon) -> Iterator[Seen]:
    """What the features say of every turn of a session, in order."""
    return map(Extractor(lexicon).observe, turns)
