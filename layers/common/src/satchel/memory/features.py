"""What ranking looks at: for each candidate a row of numbers, each with its meaning and source. Pure, numpy."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from satchel.embeddings.encoder import Encoding
from satchel.memory.candidates import Candidate, Candidates
from satchel.memory.intent import Intent, ends_with_question, names_a_time
from satchel.memory.late_interaction import best_cosines
from satchel.memory.terms import fold

Column = NDArray[np.float64]

PIECE_FLOOR = 0.3
"""Weight of a word piece that is part of no telling word, in units of inverse document frequency."""

LIFT_PREVIOUS, LIFT_NEXT = 0.4, 0.2
"""How much of what a neighbour meets better counts for a message: an answer leans on the question before it."""

K1, B, USUAL_TERMS = 1.2, 0.4, 20.0
FIELD_PREVIOUS, FIELD_NEXT, FIELD_SPEAKER = 0.5, 0.25, 2.0

UNSTATED_USER = 0.7
"""A question about nobody in particular is mostly about what the user said, so far as one without a subject tells."""


@dataclass(frozen=True, slots=True)
class Features:
    """One column per feature, in the order of the messages they were read from.

    Attributes:
        meaning: Late interaction lifted by the neighbours, the query's pieces weighted by rarity; about 0 to 1.
        words: BM25F over the message, its neighbours and its speaker's name.
        likeness: Mean-centred cosine of the pooled vectors.
        role: 1 where the message is by the role that the query asks about.
        speaker: 1 where it is by a speaker whom the query names.
        question: 1 where it ends in a question.
        length: ln(1 + characters).
        time: 1 where the query asks when and the message names a time.
        days: How near the message is to the days that the query names, 0 to 1.
        exact: Where the query is keywords, the share of their rarity that the message itself contains, 0 to 1.
        coverage: Share of the query's rarity that the message and its neighbours contain, 0 to 1.
    """

    meaning: Column
    words: Column
    likeness: Column
    role: Column
    speaker: Column
    question: Column
    length: Column
    time: Column
    days: Column
    exact: Column
    coverage: Column

    def at(self, index: int) -> dict[str, float]:
        """Return one row by name."""
        return {field.name: float(getattr(self, field.name)[index]) for field in fields(self)}


def read_features(candidates: Candidates, seqs: Sequence[int], query: Encoding, intent: Intent) -> Features:
    """Return the features of some candidates.

    Args:
        candidates: From the store.
        seqs: Which of `candidates.ranked`, and the order of the rows.
        query: The query's vectors.
        intent: What it asks for.
    """
    own = [candidates.by_seq[seq] for seq in seqs]
    rarity = inverse_document_frequencies(candidates)
    words, coverage = _bm25f(candidates, seqs, rarity)
    likeness = _likeness(candidates)
    meaning = _late_interaction(candidates, query, piece_weights(candidates, query, rarity))
    return Features(
        meaning=_column(meaning.get(seq, 0.0) for seq in seqs) if meaning else _column(likeness[seq] for seq in seqs),
        words=words,
        likeness=_column(likeness[seq] for seq in seqs),
        role=_column(_role(candidate, intent) for candidate in own),
        speaker=_column(float(candidate.message.speaker in intent.speakers) for candidate in own),
        question=_column(float(ends_with_question(candidate.message.content)) for candidate in own),
        length=np.log1p(_column(float(len(candidate.message.content)) for candidate in own)),
        time=_column(float(intent.asks_when and names_a_time(candidate.message.content)) for candidate in own),
        days=_column(intent.nearness(candidate.message.created_at) for candidate in own),
        exact=_own_coverage(own, rarity) * float(intent.keywords),
        coverage=coverage,
    )


def inverse_document_frequencies(candidates: Candidates) -> Column:
    """Return ln(1 + (N - n + 0.5) / (n + 0.5)) for each word of the query (Robertson and Zaragoza, 2009)."""
    counts = np.array([candidates.documents.get(index, 0) for index in range(len(candidates.words))], dtype=float)
    return np.log(1 + (np.maximum(candidates.corpus - counts, 0) + 0.5) / (counts + 0.5))


def piece_weights(candidates: Candidates, query: Encoding, rarity: Column) -> Column:
    """Return the weights of the query's word pieces, summing to 1: each weighs as the rarest word it is part of."""
    weights = np.full(len(query.spans), PIECE_FLOOR)
    for piece, (start, end) in enumerate(query.spans):
        inside = [rarity[at] for at, word in enumerate(candidates.words) if word.start < end and start < word.end]
        weights[piece] = max([PIECE_FLOOR, *inside])
    return weights / max(float(weights.sum()), PIECE_FLOOR)


def _column(values: Iterable[float]) -> Column:
    return np.fromiter(values, dtype=np.float64)


def _late_interaction(candidates: Candidates, query: Encoding, weights: Column) -> dict[int, float]:
    having = {
        seq: one.tokens for seq, one in sorted(candidates.by_seq.items()) if one.tokens is not None and len(one.tokens)
    }
    if query.tokens is None or not len(query.tokens) or not having:
        return {}
    rows = dict(zip(having, best_cosines(query.tokens, list(having.values())), strict=True))
    return {seq: float(_lifted(rows, seq, candidates) @ weights) for seq in candidates.ranked if seq in rows}


def _lifted(rows: dict[int, NDArray[np.float32]], seq: int, candidates: Candidates) -> NDArray[np.float32]:
    own, beside = rows[seq], candidates.around.get(seq, {})
    lifted = own
    for place, share in ((-1, LIFT_PREVIOUS), (1, LIFT_NEXT)):
        neighbour = rows.get(beside.get(place, 0))
        if neighbour is not None:
            lifted = lifted + np.float32(share) * np.maximum(neighbour - own, 0)
    return lifted


def _bm25f(candidates: Candidates, seqs: Sequence[int], rarity: Column) -> tuple[Column, Column]:
    """BM25F: frequencies are added up over weighted fields before they saturate (Robertson et al., 2004)."""
    frequencies = np.zeros((len(seqs), len(candidates.words)))
    for row, seq in enumerate(seqs):
        one, beside = candidates.by_seq[seq], candidates.around.get(seq, {})
        _add(frequencies[row], one, 1 / (1 - B + B * one.length / USUAL_TERMS))
        for place, share in ((-1, FIELD_PREVIOUS), (1, FIELD_NEXT)):
            if place in beside and beside[place] in candidates.by_seq:
                _add(frequencies[row], candidates.by_seq[beside[place]], share)
        names = {fold(part) for part in one.message.speaker.split()}
        frequencies[row] += FIELD_SPEAKER * np.array([word.word in names for word in candidates.words], dtype=float)
    words = (frequencies * (K1 + 1) / (frequencies + K1)) @ rarity
    return words, (frequencies > 0) @ rarity / max(float(rarity.sum()), 1e-9)


def _own_coverage(own: Sequence[Candidate], rarity: Column) -> Column:
    total = max(float(rarity.sum()), 1e-9)
    return _column(sum(float(rarity[index]) for index in candidate.frequencies) / total for candidate in own)


def _add(frequencies: Column, candidate: Candidate, share: float) -> None:
    for index, frequency in candidate.frequencies.items():
        frequencies[index] += share * frequency


def _likeness(candidates: Candidates) -> dict[int, float]:
    """Return (c - m) / (1 - m): the cosines of one encoder lie around a level m of its own, that of chance pairs."""
    known = sorted(one.similarity for one in candidates.by_seq.values() if one.similarity is not None)
    level = min(sum(known) / len(known), 0.99) if known else 0.0
    return {
        seq: 0.0 if one.similarity is None else (one.similarity - level) / (1 - level)
        for seq, one in candidates.by_seq.items()
    }


def _role(candidate: Candidate, intent: Intent) -> float:
    if intent.role is not None:
        return float(candidate.message.role == intent.role)
    return UNSTATED_USER if not intent.speakers and not intent.both and candidate.message.role == "user" else 0.0
