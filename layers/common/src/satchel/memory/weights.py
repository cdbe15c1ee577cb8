"""The numbers of the ranking: how much each feature counts, and what a score means as a probability.

The weights of the order were set by hand from what each feature is meant to do, then rounded after trying neighbours of
each on the MemoryBank dialogues (MIT) and one Korean dialogue of our own; LoCoMo (non-commercial) was measured with and
never fitted to. The numbers of the probability are a logistic regression on the same dialogues and our own facts in
three languages, made by benchmarks/retrieval/calibration.py. Two of them were moved by hand: `days` from 2.5, since to
be of the day asked about is little reason to tell what was asked, and `place` from 0.8, since few of the questions ask
where. `unmet` and `days_alone` were set by hand: no labelled question is bare words that were never said, or asks for a
day and nothing else. docs/recall.md has the figures.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """What one unit of each feature adds to a candidate's rank; see `features.Features`.

    Attributes:
        days_alone: In place of `days` where the query asks for nothing else: more than all the others together.
        session_meaning: For the mean of the best three messages of its session, in the feature `meaning`.
        session_words: The same in the feature `words`.
    """

    meaning: float = 6.25
    words: float = 0.0625
    likeness: float = 0.12
    session_meaning: float = 5.0
    session_words: float = 0.1
    role: float = 1.6
    speaker: float = 1.2
    question: float = -0.6
    length: float = 0.43
    time: float = 1.5
    place: float = 1.0
    days: float = 3.0
    days_alone: float = 100.0
    exact: float = 6.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """Log-odds that a candidate answers the query, per unit of what speaks for it (see `features.Features`).

    Attributes:
        unmet: Where the query is keywords in the message's script, for the share of them that it lacks.
        other_day: Where the query names days, for a message of none of them.
        days_alone: In place of all but `other_day` and `other_role` where the query asks for nothing but days.
        chance: Per deviation by which the best of as many unrelated messages stands out by chance.
    """

    intercept: float = -2.61
    meaning: float = 11.76
    likeness: float = 0.43
    exact: float = 2.14
    unmet: float = -1.3
    time: float = 0.92
    place: float = 1.3
    days: float = 1.2
    other_day: float = -2.74
    days_alone: float = 5.0
    other_role: float = -3.05
    question: float = -1.15
    pieces: float = -0.76
    foreign: float = 1.19
    chance: float = -0.69


WEIGHTS = Weights()
CALIBRATION = Calibration()

SESSION_BEST = 3
"""Messages of a session that speak for it."""

SUPERSEDING = 0.5
"""A newer statement by the same speaker takes the place of an older one that outranks it by no more than this."""
