"""What ranking looks at: for each candidate a row of numbers, each with its meaning and source. Pure, numpy."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from satchel.embeddings.background import Background, scripts_of
from satchel.embeddings.encoder import Encoding
from satchel.memory.candidates import Candidate, Candidates
from satchel.memory.intent import Intent, ends_with_question, names_a_place, names_a_time
from satchel.memory.late_interaction import best_cosines
from satchel.memory.terms import fold

Column = NDArray[np.float64]

PIECE_FLOOR = 0.3
"""Weight of a word piece that is part of no telling word, in units of inverse document frequency."""

LIFT_PREVIOUS, LIFT_NEXT = 0.4, 0.2
"""How much of what a neighbour meets better counts for a message: an answer leans on the question before it."""

PRIOR_MESSAGES, PRIOR_FOUND = 100.0, 1.0
"""Everyday messages that are counted with those of the user: a word is rare or common also where little was said."""

WITHOUT_TOKENS = 0.05
"""What one deviation of likeness counts as meaning where an encoder gives no token vectors."""

PIECE_CHARS = 4
"""Characters of a word piece, where an encoder does not tell."""

K1, B, USUAL_TERMS = 1.2, 0.4, 20.0
FIELD_PREVIOUS, FIELD_NEXT, FIELD_SPEAKER = 0.5, 0.25, 2.0

UNSTATED_USER = 0.7
"""A question about nobody in particular is mostly about what the user said, so far as one without a subject tells."""


@dataclass(frozen=True, slots=True)
class Features:
    """One column per feature, in the order of the messages they were read from.

    None depends on which other messages there are, but for the rarity of words and what stands beside a message.

    Attributes:
        meaning: Late interaction lifted by the neighbours, the query's pieces weighted by rarity; about 0 to 1.
        words: BM25F over the message, its neighbours and its speaker's name.
        likeness: By how many deviations the cosine of the pooled vectors exceeds that of unrelated texts.
        role: 1 where the message is by the role that the query asks about.
        speaker: 1 where it is by a speaker whom the query names.
        question: 1 where it ends in a question.
        length: ln(1 + characters).
        time: 1 where the query asks when and the message names a time.
        place: 1 where the query asks where and the message may name a place.
        days: How near the message is to the days that the query names, 0 to 1.
        exact: Where the query is keywords, the share of their rarity that the message itself contains, 0 to 1.
        other_role: 1 where the query asks what one side said and the message is by the other.
        foreign: 1 where it is written in another script than the query.
        pieces: ln(1 + word pieces): a long message has more chances to meet a query by accident.
    """

    meaning: Column
    words: Column
    likeness: Column
    role: Column
    speaker: Column
    question: Column
    length: Column
    time: Column
    place: Column
    days: Column
    exact: Column
    other_role: Column
    foreign: Column
    pieces: Column

    def at(self, index: int) -> dict[str, float]:
        """Return one row by name."""
        return {field.name: float(getattr(self, field.name)[index]) for field in fields(self)}


def read_features(
    candidates: Candidates, seqs: Sequence[int], query: Encoding, intent: Intent, background: Background
) -> Features:
    """Return the features of some candidates.

    Args:
        candidates: From the store.
        seqs: Which of `candidates.ranked`, and the order of the rows.
        query: The query's vectors.
        intent: What it asks for.
        background: Of the encoder that made the vectors.
    """
    own = [candidates.by_seq[seq] for seq in seqs]
    contents = [candidate.message.content for candidate in own]
    rarity = inverse_document_frequencies(candidates)
    contents_of_all = [candidate.message.content for candidate in candidates.by_seq.values()]
    scripts = dict(zip(candidates.by_seq, scripts_of(contents_of_all), strict=True))
    likeness = _likeness(own, [scripts[seq] for seq in seqs], intent.script, background)
    cosines, at = _late_interaction(candidates, query, scripts, intent.script, background)
    having = [seq for seq in seqs if seq in at]
    # Bare words are looked for in the message itself.
    met = cosines[[at[seq] for seq in having]] if intent.keywords else _lifted(cosines, at, having, candidates)
    meaning = np.zeros(len(seqs))
    meaning[[seq in at for seq in seqs]] = met @ piece_weights(candidates, query, rarity)
    return Features(
        meaning=meaning if having else likeness * WITHOUT_TOKENS,
        words=_bm25f(candidates, seqs, rarity),
        likeness=likeness,
        role=_column(_role(candidate, intent) for candidate in own),
        speaker=_column(float(candidate.message.speaker in intent.speakers) for candidate in own),
        question=_column(float(ends_with_question(content)) for content in contents),
        length=np.log1p(_column(float(len(content)) for content in contents)),
        time=_column(float(intent.asks_when and names_a_time(content)) for content in contents),
        place=_column(float(intent.asks_where and names_a_place(content)) for content in contents),
        days=_column(intent.nearness(candidate.message.created_at) for candidate in own),
        exact=_own_coverage(own, rarity) * float(intent.keywords),
        other_role=_column(float(intent.role not in (None, candidate.message.role)) for candidate in own),
        foreign=_column(float(scripts[seq] != intent.script) for seq in seqs),
        pieces=np.log1p(_column(_pieces(candidate) for candidate in own)),
    )


def inverse_document_frequencies(candidates: Candidates) -> Column:
    """Return ln(1 + (N - n + 0.5) / (n + 0.5)) for each word of the query (Robertson and Zaragoza, 2009).

    N and n count the prior messages as well, so that the numbers are of use from the first message on.
    """
    counts = np.array([candidates.documents.get(index, 0) for index in range(len(candidates.words))], dtype=float)
    counts += PRIOR_FOUND
    total = candidates.corpus + PRIOR_MESSAGES
    return np.log(1 + (np.maximum(total - counts, 0) + 0.5) / (counts + 0.5))


def piece_weights(candidates: Candidates, query: Encoding, rarity: Column) -> Column:
    """Return the weights of the query's word pieces, summing to 1: each weighs as the rarest word it is part of."""
    weights = np.full(len(query.spans), PIECE_FLOOR)
    for piece, (start, end) in enumerate(query.spans):
        inside = [rarity[at] for at, word in enumerate(candidates.words) if word.start < end and start < word.end]
        weights[piece] = max([PIECE_FLOOR, *inside])
    return weights / max(float(weights.sum()), PIECE_FLOOR)


def _column(values: Iterable[float]) -> Column:
    return np.fromiter(values, dtype=np.float64)


def _late_interaction(
    candidates: Candidates, query: Encoding, scripts: Mapping[int, int], asked: int, background: Background
) -> tuple[NDArray[np.float32], dict[int, int]]:
    """Return how well each message with tokens meets each word piece of the query, and which row is whose."""
    having = {
        seq: one.tokens for seq, one in sorted(candidates.by_seq.items()) if one.tokens is not None and len(one.tokens)
    }
    if query.tokens is None or not len(query.tokens) or not having:
        return np.zeros((0, len(query.spans)), np.float32), {}
    cosines = best_cosines(
        query.tokens,
        list(having.values()),
        query_mean=background.queries[background.row(asked)],
        means=background.passages,
        rows=[background.row(scripts[seq]) for seq in having],
    )
    return cosines, {seq: row for row, seq in enumerate(having)}


def _lifted(
    cosines: NDArray[np.float32], at: Mapping[int, int], seqs: Sequence[int], candidates: Candidates
) -> NDArray[np.float32]:
    own = lifted = cosines[[at[seq] for seq in seqs]]
    for place, share in ((-1, LIFT_PREVIOUS), (1, LIFT_NEXT)):
        # Where nothing is beside a message, it stands for that itself, and is not lifted.
        beside = [at.get(candidates.around.get(seq, {}).get(place, seq), at[seq]) for seq in seqs]
        lifted = lifted + np.float32(share) * np.maximum(cosines[beside] - own, 0)
    return lifted


def _bm25f(candidates: Candidates, seqs: Sequence[int], rarity: Column) -> Column:
    """BM25F: frequencies are added up over weighted fields before they saturate (Robertson et al., 2004)."""
    frequencies = np.zeros((len(seqs), len(candidates.words)))
    named = {name: _named(name, candidates) for name in candidates.speakers}
    for row, seq in enumerate(seqs):
        one, beside = candidates.by_seq[seq], candidates.around.get(seq, {})
        _add(frequencies[row], one, 1 / (1 - B + B * one.length / USUAL_TERMS))
        for place, share in ((-1, FIELD_PREVIOUS), (1, FIELD_NEXT)):
            if place in beside and beside[place] in candidates.by_seq:
                _add(frequencies[row], candidates.by_seq[beside[place]], share)
        if one.message.speaker in named:
            frequencies[row] += FIELD_SPEAKER * named[one.message.speaker]
    return (frequencies * (K1 + 1) / (frequencies + K1)) @ rarity


def _named(speaker: str, candidates: Candidates) -> Column:
    """Return 1 for each word of the query that is part of a speaker's name."""
    names = {fold(part) for part in speaker.split()}
    return _column(float(word.word in names) for word in candidates.words)


def _own_coverage(own: Sequence[Candidate], rarity: Column) -> Column:
    total = max(float(rarity.sum()), 1e-9)
    return _column(sum(float(rarity[index]) for index in candidate.frequencies) / total for candidate in own)


def _add(frequencies: Column, candidate: Candidate, share: float) -> None:
    for index, frequency in candidate.frequencies.items():
        frequencies[index] += share * frequency


def _likeness(own: Sequence[Candidate], scripts: Sequence[int], asked: int, background: Background) -> Column:
    levels = background.level[background.row(asked)]
    return _column(
        0.0
        if candidate.similarity is None
        else (candidate.similarity - float(levels[background.row(script)])) / background.spread
        for candidate, script in zip(own, scripts, strict=True)
    )


def _pieces(candidate: Candidate) -> float:
    if candidate.tokens is not None:
        return float(len(candidate.tokens))
    return len(candidate.message.content) / PIECE_CHARS


def _role(candidate: Candidate, intent: Intent) -> float:
    if intent.role is not None:
        return float(candidate.message.role == intent.role)
    return UNSTATED_USER if not intent.speakers and not intent.both and candidate.message.role == "user" else 0.0
