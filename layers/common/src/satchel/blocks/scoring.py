"""Scores every message of a session: how much each goes on with what came before it."""

import math
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from satchel.blocks import text as texts
from satchel.blocks.continuity import Model
from satchel.blocks.features import Extractor, Turn
from satchel.blocks.sessions import Message, Options
from satchel.blocks.text import Text

# In `hard` mode the rule judges pauses. The score is told only what the rule says: it must not fall inside the limit.
_SHORT_GAP_S = 60
_LONG_GAP_S = 3_600
# The pauses were learned at the document's default limit, in `soft` mode they are weighed in units of the limit.
_LEARNED_MINUTES = 10
_EDGE = 0.000001


class Scored(NamedTuple):
    """A message with its score, the pause before it in seconds, and what its text says on its own."""

    message: Message
    score: float
    gap_s: float | None
    text: Text


def score_session(messages: Iterable[Message], options: Options, model: Model) -> Iterator[Scored]:
    """Yield every message of a session in order, scored by the option `similarity`; reads no further than it yields."""
    if options.similarity == "cosine":
        yield from _cosines(messages, options.context)
        return
    extractor, mode = Extractor(model.lexicon, context=options.context), options.gap_mode
    for message, gap_s in _paced(messages):
        turn = Turn(message.content, message.role, message.speaker, _weighed(gap_s, options))
        numbers, flags, text, repeats = extractor.observe(turn)
        score = 1 - _EDGE if repeats else model.score(model.margin(numbers, flags), mode)
        yield Scored(message, score, gap_s, text)


def _paced(messages: Iterable[Message]) -> Iterator[tuple[Message, float | None]]:
    """The messages with the pause before each in seconds, None where it is not known."""
    before = None
    for message in messages:
        at = message.at
        yield message, (at - before).total_seconds() if at is not None and before is not None else None
        before = at


def _weighed(gap_s: float | None, options: Options) -> float | None:
    if gap_s is None:
        return None
    if options.gap_mode == "hard":
        return hard_gap_s(gap_s, options.time_gap_minutes * 60)
    return gap_s * _LEARNED_MINUTES / options.time_gap_minutes


def hard_gap_s(gap_s: float, limit_s: float) -> float:
    """The pause that the score sees in `hard` mode: one of two, under the limit or over it."""
    return _LONG_GAP_S if gap_s > limit_s else _SHORT_GAP_S


def _cosines(messages: Iterable[Message], context: int) -> Iterator[Scored]:
    """Every message, scored by the cosine of its term counts with those of the messages before it."""
    window: deque[Counter[str]] = deque()
    around: Counter[str] = Counter()
    for message, gap_s in _paced(messages):
        text = texts.read(message.content)
        own = Counter(term for term in map(texts.term_of, text.words) if term)
        product = sum(count * around[term] for term, count in own.items())
        norms = sum(count * count for count in own.values()) * sum(count * count for count in around.values())
        cosine = product / math.sqrt(norms) if norms else 0.0
        yield Scored(message, min(max(round(cosine, 6), _EDGE), 1 - _EDGE), gap_s, text)
        window.append(own)
        around += own
        if len(window) > context:
            around -= window.popleft()
