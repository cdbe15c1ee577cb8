"""Features of the words: which terms came before and how common they are, and what phrases announce."""

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import NamedTuple

from satchel.blocks import text as texts
from satchel.blocks.text import Text
from satchel.blocks.window import FAR, NEVER, WINDOW

DEFAULT_WEIGHT = 10
_BEGINNING_WORDS = 12


class Lexicon(NamedTuple):
    """What was learned about words.

    Attributes:
        weight: How much a common term counts, under `DEFAULT_WEIGHT`, which every other term has.
        opens: How much a phrase speaks for a new topic.
        closes: How much it does in the message before.
        topic: Where a term stands among the topics, a vector of `TOPIC_DIMENSIONS` small integers.
    """

    weight: Mapping[str, int]
    opens: Mapping[str, int]
    closes: Mapping[str, int]
    topic: Mapping[str, Sequence[int]]


def phrases(words: Sequence[str]) -> list[str]:
    """The keys of the lexicon for a text: the words of its beginning, and how it begins and ends."""
    if not words:
        return []
    first, last = words[0], words[-1]
    pairs = (f"^{first} {words[1]}", f"${words[-2]} {last}") if len(words) > 1 else (f"^{first}", f"${last}")
    return [*words[:_BEGINNING_WORDS], f"^{first}", f"${last[-3:]}", *pairs]


class Words:
    """How many of a turn's terms occurred before, by how long ago and how common they are."""

    def __init__(self, weight: Mapping[str, int], context: int) -> None:
        self._weight = weight
        self._context = context
        self._seen: dict[str, int] = {}

    def observe(self, index: int, terms: Sequence[str]) -> tuple[int, ...]:
        """The features `overlap_1` to `rare_context` of the turn at `index`."""
        weight_of, seen, context = self._weight.get, self._seen, self._context
        total = sum(map(weight_of, terms, repeat(DEFAULT_WEIGHT)))
        weight_1 = weight_2 = weight_context = weight_window = shared_1 = shared_context = rare = 0
        for term in seen.keys() & terms:
            ago = index - seen[term]
            if ago > WINDOW:
                continue
            weight = weight_of(term, DEFAULT_WEIGHT)
            weight_window += weight
            if ago <= context:
                weight_context += weight
                shared_context += 1
                rare += weight >= DEFAULT_WEIGHT
            if ago == 1:
                weight_1 += weight
                shared_1 += 1
            if ago <= 2:  # noqa: PLR2004 - the two messages before
                weight_2 += weight
        seen.update(zip(terms, repeat(index)))
        whole = total or 1
        return (
            100 * weight_1 // whole, 100 * weight_2 // whole, 100 * weight_context // whole, shared_1, shared_context,
            total - weight_window, rare,
        )  # fmt: skip


class Phrases:
    """What phrases say, and how long ago somebody asked, thanked or greeted."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._opens, self._closes = lexicon.opens, lexicon.closes
        self._question_at = self._thanks_at = self._greeting_at = NEVER
        self._closing = self._closing_2 = 0

    def observe(self, index: int, now: Text) -> tuple[int, ...]:
        """The features `question_ago` to `previous_2_closing` of the turn at `index`."""
        used = phrases(now.words)
        cues = now.cues
        numbers = (
            min(index - self._question_at, FAR), min(index - self._thanks_at, FAR),
            min(index - self._greeting_at, FAR), sum(map(self._opens.get, used, repeat(0))), self._closing,
            self._closing_2,
        )  # fmt: skip
        if cues & texts.QUESTION:
            self._question_at = index
        if cues & texts.THANKS:
            self._thanks_at = index
        if cues & texts.GREETING:
            self._greeting_at = index
        self._closing, self._closing_2 = sum(map(self._closes.get, used, repeat(0))), self._closing
        return numbers
