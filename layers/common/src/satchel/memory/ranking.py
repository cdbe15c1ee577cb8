"""Orders candidates and says how probable it is that each answers the query. Pure."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from satchel.embeddings.encoder import Encoding
from satchel.memory.candidates import Candidate, Candidates
from satchel.memory.late_interaction import best_cosines
from satchel.memory.messages import Message


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate in its place.

    Attributes:
        score: Probability in [0, 1] that the message answers the query.
        similarity: Cosine of meaning in [0, 1]; 0 where the message has no vector.
        contributions: What each feature added, by name.
        words: The words of the query that occur in the message.
    """

    message: Message
    score: float
    similarity: float
    contributions: dict[str, float]
    words: tuple[str, ...]


def rank(candidates: Candidates, query: Encoding) -> list[Ranked]:
    """Return all of `candidates.ranked`, best first; ties go to the newer message.

    Args:
        candidates: From the store.
        query: The query's vectors, of the encoder whose vectors the candidates carry.
    """
    weights = inverse_document_frequencies(candidates)
    meaning = _late_interaction(candidates, query, weights)
    ranked = [
        _ranked(candidates, candidates.by_seq[seq], weights, meaning.get(seq, 0.0)) for seq in sorted(candidates.ranked)
    ]
    return sorted(ranked, key=lambda hit: (-hit.score, -hit.message.created_at.timestamp(), -hit.message.seq))


def inverse_document_frequencies(candidates: Candidates) -> NDArray[np.float64]:
    """Return ln(1 + (N - n + 0.5) / (n + 0.5)) for each word of the query (Robertson and Zaragoza, 2009)."""
    counts = np.array([candidates.documents.get(index, 0) for index in range(len(candidates.words))], dtype=float)
    return np.log(1 + (np.maximum(candidates.corpus - counts, 0) + 0.5) / (counts + 0.5))


def _late_interaction(candidates: Candidates, query: Encoding, weights: NDArray[np.float64]) -> dict[int, float]:
    having = [(seq, candidate.tokens) for seq, candidate in candidates.by_seq.items() if candidate.tokens is not None]
    if query.tokens is None or not len(query.tokens) or not having:
        return {}
    cosines = best_cosines(query.tokens, [tokens for _, tokens in having])
    shares = _piece_weights(candidates, query, weights)
    return dict(zip((seq for seq, _ in having), (cosines @ shares).tolist(), strict=True))


def _piece_weights(candidates: Candidates, query: Encoding, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share out weight over the query's word pieces: a piece weighs as the rarest word it is part of."""
    shares = np.full(len(query.spans), 0.1)
    for index, (start, end) in enumerate(query.spans):
        inside = [weights[at] for at, word in enumerate(candidates.words) if word.start < end and start < word.end]
        shares[index] = max([0.1, *inside])
    return shares / shares.sum()


def _ranked(candidates: Candidates, candidate: Candidate, weights: NDArray[np.float64], meaning: float) -> Ranked:
    total = float(weights.sum()) or 1.0
    words = sum(weights[index] for index in candidate.frequencies) / total
    logit = -3.0 + 6.0 * meaning + 3.0 * words
    return Ranked(
        candidate.message,
        1 / (1 + math.exp(-logit)),
        min(max(candidate.similarity or 0.0, 0.0), 1.0),
        {"meaning": round(6.0 * meaning, 3), "words": round(float(3.0 * words), 3)},
        tuple(candidates.words[index].word for index in sorted(candidate.frequencies)),
    )
