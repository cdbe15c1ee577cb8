"""Orders candidates and says how probable it is that each answers the query. Pure."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from satchel.embeddings.background import Background
from satchel.embeddings.encoder import Encoding
from satchel.memory.candidates import Candidates, Utterance
from satchel.memory.features import Column, Features, read_features
from satchel.memory.intent import Intent
from satchel.memory.messages import Message
from satchel.memory.weights import CALIBRATION, LENT, SESSION_BEST, SUPERSEDING, WEIGHTS, Weights

DECIMALS = 4
"""Digits of a rank that count."""

HARDLY = 1e-3
"""Log-odds per unit of rank by which a hit stays below the one before it, where it has more to speak for it."""

JUST_ABOVE = 1e-6
"""What puts a newer statement in front of the one whose place it takes."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate in its place.

    Attributes:
        score: Probability in [0, 1] that the message answers the query; never more than that of one before it.
        similarity: Cosine of meaning in [0, 1]; 0 where the message has no vector.
        contributions: What each feature added to its rank, by name; those that added nothing are left out.
        words: The words of the query that occur in the message.
    """

    message: Utterance | Message
    score: float
    similarity: float
    contributions: dict[str, float]
    words: tuple[str, ...]


def rank(candidates: Candidates, query: Encoding, intent: Intent, background: Background) -> Iterator[Ranked]:
    """Give out all of `candidates.ranked`, best first; ties go to the newer message.

    The order depends on the set of candidates alone, never on the order they came in.

    Args:
        candidates: From the store.
        query: The query's vectors, of the encoder whose vectors the candidates carry.
        intent: What the query asks for.
        background: Of the same encoder.
    """
    seqs = sorted(candidates.ranked)
    if not seqs:
        return
    messages = [candidates.by_seq[seq].message for seq in seqs]
    features = read_features(candidates, seqs, query, intent, background)
    ranks, parts = ranks_of(features, messages, intent)
    order = order_of(ranks, messages)
    evidence = (
        evidence_of_days(features) if intent.days_alone else evidence_of(features, intent, corpus=candidates.corpus)
    )
    odds = log_odds(ranks, order, evidence)
    rounded = {name: np.round(part, 3).tolist() for name, part in parts.items()}
    for row in order:
        candidate = candidates.by_seq[seqs[row]]
        yield Ranked(
            message=candidate.message,
            score=1 / (1 + math.exp(-float(odds[row]))),
            similarity=min(max(candidate.similarity or 0.0, 0.0), 1.0),
            contributions={name: part[row] for name, part in rounded.items() if part[row]},
            words=tuple(candidates.words[index].word for index in sorted(candidate.frequencies)),
        )


def ranks_of(features: Features, messages: Sequence[Utterance], intent: Intent) -> tuple[Column, dict[str, Column]]:
    """Return what each message is ordered by, and the parts that it is the sum of, by their names."""
    parts = contributions(features, messages)
    if intent.days_alone:
        parts["days"] = WEIGHTS.days_alone * features.days
    # A matrix product may differ in its last digits from row to row: what is equal has to stay equal.
    ranks = np.round(sum(parts.values(), np.zeros(len(messages))), DECIMALS)
    if intent.asks_current:
        parts["newer statement"] = supersession(ranks, messages)
        ranks = ranks + parts["newer statement"]
    return ranks, parts


def order_of(ranks: Column, messages: Sequence[Utterance]) -> list[int]:
    """Return the rows by falling rank; ties go to the newer message."""
    arrived, said = [message.seq for message in messages], [_instant(message) for message in messages]
    return np.lexsort((arrived, said, ranks.tolist()))[::-1].tolist()


def contributions(features: Features, messages: Sequence[Utterance], weights: Weights = WEIGHTS) -> dict[str, Column]:
    """Return what each feature adds to the rank of each message, by the feature's name.

    Args:
        features: One row for each message.
        messages: In the order of the rows.
        weights: What one unit of each counts.
    """
    session = weights.session_meaning * features.meaning + weights.session_words * features.words
    return {
        "meaning": weights.meaning * features.meaning,
        "words": weights.words * features.words,
        "likeness": weights.likeness * features.likeness,
        "session": best_of_session(session, [message.session_id for message in messages]),
        "role": weights.role * features.role,
        "speaker": weights.speaker * features.speaker,
        "question": weights.question * features.question,
        "reaction": weights.reaction * features.reaction,
        "length": weights.length * features.length,
        "time": weights.time * features.time,
        "place": weights.place * features.place,
        "number": weights.number * features.number,
        "name": weights.name * features.name,
        "days": weights.days * features.days,
        "exact words": weights.exact * features.exact,
    }


def best_of_session(values: Column, sessions: Sequence[str]) -> Column:
    """Return for each row the mean of the best three values of its session (of as many as there are)."""
    by_session: dict[str, list[float]] = {}
    for value, session in zip(values.tolist(), sessions, strict=True):
        by_session.setdefault(session, []).append(value)
    best = {
        session: sum(sorted(members, reverse=True)[:SESSION_BEST]) / min(SESSION_BEST, len(members))
        for session, members in by_session.items()
    }
    return np.array([best[session] for session in sessions])


def supersession(ranks: Column, messages: Sequence[Utterance]) -> Column:
    """Return what lifts each message just above the older ones of its speaker that it comes close to.

    "I live in Busan", then "I moved to Seoul": asked where I live, the newer one holds. Others keep their rank, so
    that a new statement moves no message down by more than one place.
    """
    speakers = np.array([message.speaker for message in messages])
    said = np.argsort(np.lexsort(([message.seq for message in messages], [_instant(m) for m in messages])))
    ahead = ranks[np.newaxis, :] - ranks[:, np.newaxis]
    superseded = (
        (speakers[np.newaxis, :] == speakers[:, np.newaxis])
        & (said[np.newaxis, :] < said[:, np.newaxis])
        & (ahead >= 0)
        & (ahead <= SUPERSEDING)
    )
    return np.where(superseded.any(axis=1), np.where(superseded, ahead, 0).max(axis=1) + JUST_ABOVE, 0.0)


def _instant(message: Utterance) -> float:
    return message.created_at.timestamp()


def log_odds(ranks: Column, order: Sequence[int], evidence: Mapping[str, Column]) -> Column:
    """Return the log-odds that each candidate answers: what speaks for it, but never more than for one before it.

    Args:
        ranks: What the candidates are ordered by.
        order: Their rows, best first.
        evidence: From `evidence_of`.
    """
    odds = np.full_like(ranks, CALIBRATION.intercept)
    for name, column in evidence.items():
        odds += getattr(CALIBRATION, name) * column
    best_first = list(order)
    floor = HARDLY * ranks[best_first]
    odds[best_first] = np.minimum.accumulate(odds[best_first] - floor) + floor
    return odds


def evidence_of(features: Features, intent: Intent, *, corpus: int) -> dict[str, Column]:
    """Return what tells whether a candidate answers, by the names of `Calibration`.

    Args:
        features: Of the candidates.
        intent: What the query asks for.
        corpus: Messages among which they were found.
    """
    return {
        "meaning": features.own_meaning + LENT * (features.meaning - features.own_meaning),
        "likeness": features.likeness,
        "exact": features.exact,
        "unmet": float(intent.keywords) * (1 - features.exact) * (1 - features.foreign),
        "answer": np.max([features.time, features.place, features.number, features.name], axis=0),
        "days": features.days,
        "other_day": float(bool(intent.days)) * (1 - features.days),
        "other_role": features.other_role,
        "question": features.question,
        "pieces": features.pieces,
        "foreign": features.foreign,
        # The greatest of n draws from a normal distribution lies about √(2 ln n) deviations above its mean.
        "chance": np.full_like(features.meaning, math.sqrt(2 * math.log(max(corpus, 1)))),
    }


def evidence_of_days(features: Features) -> dict[str, Column]:
    """As `evidence_of`, for a query that asks for whatever was said on the days it names."""
    return {
        "days_alone": features.days,
        "other_day": 1 - features.days,
        "other_role": features.other_role,
    }
