"""Causal features of a message: what its window of earlier messages says about whether it goes on or starts anew.

A feature looks at the message and at most `WINDOW` messages before it, never at a decision and never ahead, so
scoring a session in parts gives the scores of the whole. All features are integers; -1 means not known.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isqrt
from operator import add, mul, sub
from typing import NamedTuple

from satchel.blocks import text as texts
from satchel.blocks.text import Text

WINDOW = 30
_FAR = WINDOW + 1
_NEVER = -1_000
DEFAULT_WEIGHT = 10
TOPIC_DIMENSIONS = 12
_NO_COSINE = -101
_GAPS = 10
_SPEAKERS = 10
_MAX_GAP_S = 10_000_000
_MAX_COUNTED_GAP_S = 3_600
_LONG_GAP_S = 600
_BEGINNING_WORDS = 12

NAMES = (
    "gap_s", "gap_rank", "gap_ratio", "long_gap_ago",
    "role", "previous_role", "assistants", "speaker_ago", "speakers", "run", "newcomer_ago", "mention_ago",
    "addressed", "named_by_previous", "style_shift",
    "overlap_1", "overlap_2", "overlap_context", "overlap_window", "shared_1", "shared_context", "shared_window",
    "new_weight", "rare_context",
    "topic_terms", "topic_1", "topic_context", "topic_own",
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
    "shared_1", "shared_context", "shared_window", "rare_context", "opening", "closing", "previous_2_closing",
))  # fmt: skip
_ROLES = {"user": 0, "assistant": 1, "system": 2, "tool": 3}
_ASSISTANT = 1


class Turn(NamedTuple):
    """One message as the features need it.

    `speaker` is "" where it is not known; `gap_s` are seconds since the message before it, None where not known.
    """

    text: str
    role: str
    speaker: str
    gap_s: float | None


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


def extract(turns: Iterable[Turn], lexicon: Lexicon, *, context: int = 6) -> Iterator[Seen]:
    """Yield what the features say of every turn, in order.

    Args:
        turns: In order of the session.
        lexicon: The learned words.
        context: How many messages back count as the context (`maxLastMessagesForContext`).
    """
    pauses, people, words = _Pauses(), _People(), _Words(lexicon.weight, context)
    topics, phrases_ = _Topics(lexicon.topic, context), _Phrases(lexicon)
    before = Text([], (), 0, 0, "")
    previous = ""
    for index, turn in enumerate(turns):
        now = texts.read(turn.text)
        identity = turn.speaker or turn.role
        numbers = (
            *pauses.observe(index, turn.gap_s),
            *people.observe(index, turn, identity, now),
            *words.observe(index, now.terms),
            *topics.observe(index, identity, now.terms),
            min(now.chars, 2000), min(len(now.words), 300), len(now.terms), min(before.chars, 2000),
            min(len(before.words), 300),
            *phrases_.observe(index, now),
        )  # fmt: skip
        yield Seen(numbers, now.cues | before.cues << texts.CUE_BITS, now, repeats=index > 0 and turn.text == previous)
        before, previous = now, turn.text


def phrases(words: Sequence[str]) -> list[str]:
    """The keys of the lexicon for a text: the words of its beginning, and how it begins and ends."""
    if not words:
        return []
    first, last = words[0], words[-1]
    pairs = (f"^{first} {words[1]}", f"${words[-2]} {last}") if len(words) > 1 else (f"^{first}", f"${last}")
    return [*words[:_BEGINNING_WORDS], f"^{first}", f"${last[-3:]}", *pairs]


class _Pauses:
    """How the pause before a turn compares with those before it."""

    def __init__(self) -> None:
        self._gaps: deque[int] = deque(maxlen=_GAPS)
        self._long_at = _NEVER

    def observe(self, index: int, gap_s: float | None) -> tuple[int, int, int, int]:
        long_ago = min(index - self._long_at, _FAR)
        if gap_s is None:
            return -1, -1, -1, long_ago
        gap = min(int(gap_s), _MAX_GAP_S)
        gaps = self._gaps
        rank = ratio = -1
        if gaps:
            rank = 10 * sum(other < gap for other in gaps) // len(gaps)
            ratio = min(10 * gap * len(gaps) // (sum(gaps) + 10 * len(gaps)), 10_000)
        gaps.append(min(gap, _MAX_COUNTED_GAP_S))
        if gap > _LONG_GAP_S:
            self._long_at = index
        return gap, rank, ratio, long_ago


class _People:
    """Who speaks, after whom, to whom, and how they write."""

    def __init__(self) -> None:
        self._spoke: dict[str, int] = {}
        self._names: dict[str, int] = {}
        self._addressed: dict[str, int] = {}
        self._styles: dict[str, int] = {}
        self._recent: deque[str] = deque(maxlen=_SPEAKERS)
        self._assistants: deque[bool] = deque(maxlen=_SPEAKERS)
        self._previous_role = -1
        self._previous_named: set[str] = set()
        self._run = 0
        self._newcomer_at = _NEVER

    def observe(self, index: int, turn: Turn, identity: str, now: Text) -> tuple[int, ...]:
        role = _ROLES.get(turn.role, 0)
        assistants = sum(self._assistants)
        last = self._spoke.get(identity, _NEVER)
        recent = self._recent
        self._run = self._run + 1 if recent and recent[-1] == identity else 0
        # Among nameless users nobody knows who is who.
        known = turn.speaker or role or self._previous_role > 0 or assistants
        ago = min(index - last, _FAR) if known else -1
        name = identity.lower()
        named, mention_ago = self._named(index, now.words, name)
        style = now.cues & texts.STYLE
        numbers = (
            role, self._previous_role, assistants, ago, len(set(recent)), min(self._run, 10),
            min(index - self._newcomer_at, _FAR), mention_ago, self._address(index, now.addressee),
            int(name in self._previous_named),
            (style ^ self._styles[identity]).bit_count() if index - last <= WINDOW else -1,
        )  # fmt: skip
        if ago == _FAR:
            self._newcomer_at = index
        self._spoke[identity] = index
        if turn.speaker:
            self._names[name] = index
        self._styles[identity] = style
        recent.append(identity)
        self._assistants.append(role == _ASSISTANT)
        self._previous_role, self._previous_named = role, named
        return numbers

    def _named(self, index: int, words: Sequence[str], own: str) -> tuple[set[str], int]:
        """Which earlier speakers a text names, and how long ago the latest of them spoke."""
        names = self._names
        named = {word for word in words if word in names and word != own} if names else set[str]()
        ago = min((index - names[word] for word in named), default=_FAR)
        return named, ago if ago <= WINDOW else -1

    def _address(self, index: int, addressee: str) -> int:
        """0: nobody is addressed; 1: an earlier speaker; 3: a name addressed before; 2: another word."""
        if not addressee:
            return 0
        before = self._addressed.get(addressee, _NEVER)
        self._addressed[addressee] = index
        if index - self._names.get(addressee, _NEVER) <= WINDOW:
            return 1
        return 3 if index - before <= WINDOW else 2


class _Words:
    """How many of a turn's terms occurred before, by how long ago and how common they are."""

    def __init__(self, weight: Mapping[str, int], context: int) -> None:
        self._weight = weight
        self._context = context
        self._seen: dict[str, int] = {}

    def observe(self, index: int, terms: Sequence[str]) -> tuple[int, ...]:
        weight_of, seen, context = self._weight.get, self._seen, self._context
        total = weight_1 = weight_2 = weight_context = weight_window = 0
        shared_1 = shared_context = shared_window = rare = 0
        for term in terms:
            weight = weight_of(term, DEFAULT_WEIGHT)
            total += weight
            ago = index - seen.get(term, _NEVER)
            seen[term] = index
            if ago > WINDOW:
                continue
            weight_window += weight
            shared_window += 1
            if ago <= context:
                weight_context += weight
                shared_context += 1
                rare += weight >= DEFAULT_WEIGHT
            if ago == 1:
                weight_1 += weight
                shared_1 += 1
            if ago <= 2:  # noqa: PLR2004 - the two messages before
                weight_2 += weight
        whole = total or 1
        return (
            100 * weight_1 // whole, 100 * weight_2 // whole, 100 * weight_context // whole,
            100 * weight_window // whole, shared_1, shared_context, shared_window, total - weight_window, rare,
        )  # fmt: skip


class _Topics:
    """How near a turn's terms are to those before it, as vectors learned from which terms occur together."""

    def __init__(self, topic: Mapping[str, Sequence[int]], context: int) -> None:
        self._topic = topic
        self._zero = [0] * TOPIC_DIMENSIONS
        self._recent: deque[list[int]] = deque([self._zero] * context, maxlen=context)
        self._around = self._zero
        self._own: dict[str, tuple[int, list[int]]] = {}

    def observe(self, index: int, identity: str, terms: Sequence[str]) -> tuple[int, ...]:
        topic, recent, zero = self._topic, self._recent, self._zero
        found = [topic[term] for term in terms if term in topic]
        leaving = recent[0]
        if not found:
            recent.append(zero)
            if leaving is not zero:
                self._around = list(map(sub, self._around, leaving))
            return 0, _NO_COSINE, _NO_COSINE, _NO_COSINE
        vector = list(map(sum, zip(*found, strict=True)))
        square = sum(map(mul, vector, vector))
        last, own = self._own.get(identity, (_NEVER, zero))
        numbers = (
            len(found),
            _cosine(vector, square, recent[-1]),
            _cosine(vector, square, self._around),
            _cosine(vector, square, own) if index - last <= WINDOW else _NO_COSINE,
        )
        self._own[identity] = (index, vector)
        around = map(add, self._around, vector)
        self._around = list(around if leaving is zero else map(sub, around, leaving))
        recent.append(vector)
        return numbers


def _cosine(a: Sequence[int], square: int, b: Sequence[int]) -> int:
    """The cosine of two vectors in hundredths, from whole numbers alone, so that it is exact.

    Args:
        a: A vector.
        square: The product of `a` with itself.
        b: Another; `_NO_COSINE` is the answer where either is zero.
    """
    squares = square * sum(map(mul, b, b))
    return 100 * sum(map(mul, a, b)) // isqrt(squares) if squares else _NO_COSINE


class _Phrases:
    """What phrases say, and how long ago somebody asked, thanked or greeted."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._opens, self._closes = lexicon.opens.get, lexicon.closes.get
        self._question_at = self._thanks_at = self._greeting_at = _NEVER
        self._closing = self._closing_2 = 0

    def observe(self, index: int, now: Text) -> tuple[int, ...]:
        used = phrases(now.words)
        numbers = (
            min(index - self._question_at, _FAR), min(index - self._thanks_at, _FAR),
            min(index - self._greeting_at, _FAR), sum(filter(None, map(self._opens, used))), self._closing,
            self._closing_2,
        )  # fmt: skip
        if now.cues & texts.QUESTION:
            self._question_at = index
        if now.cues & texts.THANKS:
            self._thanks_at = index
        if now.cues & texts.GREETING:
            self._greeting_at = index
        self._closing, self._closing_2 = sum(filter(None, map(self._closes, used))), self._closing
        return numbers
