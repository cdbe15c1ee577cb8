"""Features of the topic: how near a turn's terms are to those before it, as vectors of which terms occur together.

A vector is packed into one long integer, a number of `_LANE` bits to a dimension, and into a second one in reverse:
integers add like the vectors they hold, and the middle lane of the product of a vector and a reversed one is their
dot product, as in the product of two polynomials. All is exact.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from math import isqrt
from typing import NamedTuple

from satchel.blocks.window import NEVER, WINDOW

TOPIC_DIMENSIONS = 12
_NO_COSINE = -101
# A component of a term is at most 50 and a message has at most 1,400 terms, so one of a message is under 2^17, one of
# a context of 30 messages under 2^22, and a dot product under 2^43.
_LANE = 45
_MIDDLE = _LANE * (TOPIC_DIMENSIONS - 1)
_HALF_BELOW = 1 << _MIDDLE - 1
_MASK = (1 << _LANE) - 1
_SIGN = 1 << _LANE - 1


class Packed(NamedTuple):
    """A vector, and the same in reverse order."""

    forward: int
    reverse: int


_ZERO = Packed(0, 0)


def pack(vector: Sequence[int]) -> Packed:
    """A vector of `TOPIC_DIMENSIONS` integers, packed."""
    forward = sum(value << _LANE * place for place, value in enumerate(vector))
    return Packed(forward, sum(value << _LANE * place for place, value in enumerate(reversed(vector))))


def dot(forward: int, reverse: int) -> int:
    """The dot product of two packed vectors."""
    # What the lanes below the middle borrow from it is under a half.
    middle = (forward * reverse + _HALF_BELOW >> _MIDDLE) & _MASK
    return middle - 2 * _SIGN if middle & _SIGN else middle


class Topics:
    """How near a turn is to the one before it, to its context and to the last one of its speaker.

    Args:
        topic: The vectors of terms.
        context: How many messages back count as the context.
    """

    def __init__(self, topic: Mapping[str, Packed], context: int) -> None:
        self._topic = topic
        self._recent: deque[Packed] = deque([_ZERO] * context)
        self._around = _ZERO
        # Of the turn before.
        self._square = 0
        # By speaker: where the last vector of theirs was, that vector in reverse, and its square.
        self._own: dict[str, tuple[int, int, int]] = {}

    def observe(self, index: int, identity: str, terms: Sequence[str]) -> tuple[int, int, int, int]:
        """The features `topic_terms` to `topic_own` of the turn at `index`; cosines are in hundredths."""
        found = list(filter(None, map(self._topic.get, terms)))
        if not found:
            self._remember(_ZERO, 0)
            return 0, _NO_COSINE, _NO_COSINE, _NO_COSINE
        forwards, reverses = zip(*found, strict=True)
        now = Packed(sum(forwards), sum(reverses))
        forward = now.forward
        square = dot(forward, now.reverse)
        around = self._around
        last, own, own_square = self._own.get(identity, (NEVER, 0, 0))
        numbers = (
            len(found),
            _cosine(forward, square, self._recent[-1].reverse, self._square),
            _cosine(forward, square, around.reverse, dot(*around)) if around.forward else _NO_COSINE,
            _cosine(forward, square, own, own_square) if index - last <= WINDOW else _NO_COSINE,
        )
        self._own[identity] = (index, now.reverse, square)
        self._remember(now, square)
        return numbers

    def _remember(self, now: Packed, square: int) -> None:
        leaving = self._recent.popleft()
        self._recent.append(now)
        self._square = square
        if now is not leaving:
            forward, reverse = self._around
            self._around = Packed(forward + now.forward - leaving.forward, reverse + now.reverse - leaving.reverse)


def _cosine(forward: int, square: int, other: int, other_square: int) -> int:
    """The cosine of two vectors in hundredths, from whole numbers alone; `_NO_COSINE` where either is zero.

    Args:
        forward: A vector.
        square: The product of it with itself.
        other: Another in reverse.
        other_square: The product of that with itself.
    """
    squares = square * other_square
    return 100 * dot(forward, other) // isqrt(squares) if squares else _NO_COSINE
