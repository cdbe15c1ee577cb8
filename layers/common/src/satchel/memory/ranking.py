"""Orders candidates and says how probable it is that each answers the query. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from satchel.embeddings.encoder import Encoding
from satchel.memory.candidates import Candidates
from satchel.memory.features import Column, Features, read_features
from satchel.memory.intent import Intent
from satchel.memory.messages import Message
from satchel.memory.weights import CALIBRATION, SESSION_BEST, SUPERSEDING, WEIGHTS, Calibration, Weights

EVIDENCE_OF = 5
"""Best candidates whose spread tells a clear answer from a crowd of equals."""

DECIMALS = 4
"""Digits of a rank that count."""

JUST_ABOVE = 1e-6
"""What puts a newer statement in front of the one whose place it takes."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate in its place.

    Attributes:
        score: Probability in [0, 1] that the message answers the query.
        similarity: Cosine of meaning in [0, 1]; 0 where the message has no vector.
        contributions: What each feature added to its rank, by name; those that added nothing are left out.
        words: The words of the query that occur in the message.
    """

    message: Message
    score: float
    similarity: float
    contributions: dict[str, float]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueryEvidence:
    """How well a query is met at all, read from all its candidates; the inputs of `Calibration` beside the rank."""

    meaning: float
    coverage: float
    likeness: float
    margin: float


def rank(candidates: Candidates, query: Encoding, intent: Intent) -> list[Ranked]:
    """Return all of `candidates.ranked`, best first; ties go to the newer message.

    The order depends on the set of candidates alone, never on the order they came in.

    Args:
        candidates: From the store.
        query: The query's vectors, of the encoder whose vectors the candidates carry.
        intent: What the query asks for.
    """
    seqs = sorted(candidates.ranked)
    if not seqs:
        return []
    messages = [candidates.by_seq[seq].message for seq in seqs]
    features = read_features(candidates, seqs, query, intent)
    parts = contributions(features, messages)
    # A matrix product may differ in its last digits from row to row: what is equal has to stay equal.
    ranks = np.round(sum(parts.values(), np.zeros(len(seqs))), DECIMALS)
    if intent.asks_current:
        parts["newer statement"] = supersession(ranks, messages)
        ranks = ranks + parts["newer statement"]
    odds = log_odds(ranks, query_evidence(features, ranks))
    ranked = [
        Ranked(
            message=message,
            score=1 / (1 + math.exp(-float(odds[row]))),
            similarity=min(max(candidates.by_seq[seq].similarity or 0.0, 0.0), 1.0),
            contributions={name: round(float(part[row]), 3) for name, part in parts.items() if part[row]},
            words=tuple(candidates.words[index].word for index in sorted(candidates.by_seq[seq].frequencies)),
        )
        for row, (seq, message) in enumerate(zip(seqs, messages, strict=True))
    ]
    return sorted(ranked, key=lambda hit: (-hit.score, -_instant(hit.message), -hit.message.seq))


def contributions(features: Features, messages: Sequence[Message], weights: Weights = WEIGHTS) -> dict[str, Column]:
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
        "length": weights.length * features.length,
        "time": weights.time * features.time,
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


def supersession(ranks: Column, messages: Sequence[Message]) -> Column:
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


def _instant(message: Message) -> float:
    return message.created_at.timestamp()


def query_evidence(features: Features, ranks: Column) -> QueryEvidence:
    """Return how well the candidates meet the query at all."""
    best = np.sort(ranks)[::-1][:EVIDENCE_OF]
    return QueryEvidence(
        meaning=float(features.meaning.max()),
        coverage=float(features.coverage.max()),
        likeness=float(features.likeness.max()),
        margin=float(best[0] - best.mean()),
    )


def log_odds(ranks: Column, evidence: QueryEvidence, calibration: Calibration = CALIBRATION) -> Column:
    """Return the log-odds that each candidate answers; see `Calibration`."""
    return (
        calibration.intercept
        + calibration.rank * ranks
        + calibration.meaning * evidence.meaning
        + calibration.coverage * evidence.coverage
        + calibration.likeness * evidence.likeness
        + calibration.margin * evidence.margin
    )
