"""The numbers of the ranking: how much each feature counts, and what a score means as a probability.

Weights were set by hand from what each feature is meant to do, then rounded after trying neighbours of each on the
MemoryBank dialogues (MIT) and one Korean dialogue of our own; LoCoMo (non-commercial) was measured with and never
fitted to. So were the numbers of the probability: a fit to questions of other conversations was tried and not taken,
because many of those have an answer in these dialogues all the same. docs/recall.md has the figures.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """What one unit of each feature adds to a candidate's rank; see `features.Features`.

    Attributes:
        session_meaning: For the mean of the best three messages of its session, in the feature `meaning`.
        session_words: The same in the feature `words`.
    """

    meaning: float = 6.25
    words: float = 0.0625
    likeness: float = 1.0
    session_meaning: float = 5.0
    session_words: float = 0.1
    role: float = 1.6
    speaker: float = 1.2
    question: float = -0.6
    length: float = 0.43
    time: float = 1.5
    days: float = 3.0
    exact: float = 6.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """Log-odds that a candidate answers = intercept + rank·(its rank) + what the best candidates of the query show.

    The part about the query is the same for all its candidates, so that it never changes their order.

    Attributes:
        rank: Per unit of rank.
        meaning: Per unit of the best `meaning` among the candidates.
        coverage: Per unit of the best `coverage`.
        likeness: Per unit of the best `likeness`.
        margin: Per unit by which the best rank exceeds the mean of the five best.
    """

    intercept: float = -9.0
    rank: float = 0.6
    meaning: float = 2.0
    coverage: float = 1.0
    likeness: float = 1.0
    margin: float = 0.5


WEIGHTS = Weights()
CALIBRATION = Calibration()

SESSION_BEST = 3
"""Messages of a session that speak for it."""

SUPERSEDING = 0.5
"""A newer statement by the same speaker takes the place of an older one that outranks it by no more than this."""
