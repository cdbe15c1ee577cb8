"""What a search gives out: light values, apart from the search itself, which needs numpy."""

from dataclasses import dataclass

from satchel.memory.messages import Message

DEFAULT_LIMIT = 5
MAX_LIMIT = 100
DEFAULT_MIN_SCORE = 0.2


@dataclass(frozen=True, slots=True)
class Hit:
    """One message found.

    Attributes:
        score: Probability in [0, 1] that the message answers the query, comparable between encoders.
        similarity: Likeness of meaning in [0, 1], as the encoder gives it: compare it within one encoder only.
        words: Words of the query that the message contains.
        contributions: What each feature added to the score, in log-odds, by name.
        neighbours: The messages around it in its session, in order, when asked for.
    """

    message: Message
    score: float
    similarity: float
    words: tuple[str, ...] = ()
    contributions: dict[str, float] | None = None
    neighbours: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One page of hits.

    Attributes:
        hits: Best first, ties to the newer message; every score is at least the floor.
        below_min_score: How many more hits this page would have had without the floor.
        next_cursor: Where the next page begins; None on the last one.
    """

    hits: tuple[Hit, ...]
    below_min_score: int
    next_cursor: str | None
