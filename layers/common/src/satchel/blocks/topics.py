"""Features of the topic: how near a turn's terms are to those before it, as vectors of which terms occur together."""

from collections.abc import Mapping, Sequence
from math import isqrt
from operator import mul

from satchel.blocks.window import NEVER, WINDOW

TOPIC_DIMENSIONS = 12
_NO_COSINE = -101


class Topics:
    """How near a turn is to the one before it and to the last one of its speaker.

    Args:
        topic: The vectors of terms, of `TOPIC_DIMENSIONS` small integers.
    """

    def __init__(self, topic: Mapping[str, Sequence[int]]) -> None:
        self._topic = topic
        # A vector with its product with itself: of the turn before, and by speaker with its place.
        self._before: tuple[Sequence[int], int] = ((), 0)
        self._own: dict[str, tuple[int, Sequence[int], int]] = {}

    def observe(self, index: int, identity: str, terms: Sequence[str]) -> tuple[int, int, int]:
        """The features `topic_terms` to `topic_own` of the turn at `index`; cosines are in hundredths."""
        found = list(filter(None, map(self._topic.get, terms)))
        if not found:
            self._before = ((), 0)
            return 0, _NO_COSINE, _NO_COSINE
        vector = found[0] if len(found) == 1 else list(map(sum, zip(*found, strict=True)))
        square = sum(map(mul, vector, vector))
        last, own, own_square = self._own.get(identity, (NEVER, (), 0))
        numbers = (
            len(found),
            _cosine(vector, square, *self._before),
            _cosine(vector, square, own, own_square) if index - last <= WINDOW else _NO_COSINE,
        )
        self._own[identity] = (index, vector, square)
        self._before = (vector, square)
        return numbers


def _cosine(vector: Sequence[int], square: int, other: Sequence[int], other_square: int) -> int:
    """The cosine of two vectors in hundredths, from whole numbers alone; `_NO_COSINE` where either is zero.

    Args:
        vector: A vector.
        square: The product of it with itself.
        other: Another.
        other_square: The product of that with itself.
    """
    squares = square * other_square
    return 100 * sum(map(mul, vector, other)) // isqrt(squares) if squares else _NO_COSINE
