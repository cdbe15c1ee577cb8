"""The numbers of the ranking: how much each feature counts, and what a score means as a probability.

The weights of the order are round numbers set by hand from what each feature is meant to do, and kept where their
neighbours did no better on the MemoryBank dialogues (MIT) and one Korean dialogue of our own. LoCoMo (non-commercial)
was measured with: the questions that failed there showed which kinds of feature were missing, and no number was fitted
to it. The numbers of the probability are a logistic regression on the same dialogues and our own facts in three
languages, made by benchmarks/retrieval/calibration.py. Two of them were moved by hand: `days` from 2.46, since to be of
the day asked about is little reason to tell what was asked, and `other_day` from -2.34, since what is of another day
may stand beside what is meant. `unmet` and `days_alone` were set by hand: no labelled question is bare words that were
never said, or asks for a day and nothing else. docs/recall.md has the figures.
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

    meaning: float = 7.5
    words: float = 0.0625
    likeness: float = 0.12
    session_meaning: float = 5.0
    session_words: float = 0.1
    role: float = 1.6
    speaker: float = 1.2
    question: float = -0.4
    reaction: float = -0.3
    length: float = 0.35
    time: float = 1.5
    place: float = 1.0
    number: float = 1.0
    name: float = 1.0
    days: float = 3.0
    days_alone: float = 100.0
    exact: float = 6.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """Log-odds that a candidate answers the query, per unit of what speaks for it (see `features.Features`).

    Attributes:
        answer: Where the query asks for a time, a place, a number or a name and the message gives one.
        unmet: Where the query is keywords in the message's script, for the share of them that it lacks.
        other_day: Where the query names days, for a message of none of them.
        days_alone: In place of all but `other_day` and `other_role` where the query asks for nothing but days.
        chance: Per deviation by which the best of as many unrelated messages stands out by chance.
    """

    intercept: float = -1.81
    meaning: float = 10.9
    likeness: float = 0.4
    exact: float = 2.44
    unmet: float = -1.3
    answer: float = 0.82
    days: float = 1.2
    other_day: float = -3.0
    days_alone: float = 5.0
    other_role: float = -2.74
    question: float = -1.07
    pieces: float = -0.89
    foreign: float = 0.96
    chance: float = -0.6


WEIGHTS = Weights()
CALIBRATION = Calibration()

SESSION_BEST = 3
"""Messages of a session that speak for it."""

LENT = 0.5
"""How much of what the messages beside it lend to a message's meaning is evidence for it."""

SUPERSEDING = 0.5
"""A newer statement by the same speaker takes the place of an older one that outranks it by no more than this."""
