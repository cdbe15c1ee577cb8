"""What ranking looks at: for each candidate a row of numbers, each with its meaning and source. Pure, numpy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from satchel.embeddings.background import Background
from satchel.embeddings.encoder import Encoding
from satchel.embeddings.scripts import scripts_of
from satchel.memory.answers import Kind, ends_with_question, gives, opens_with_reaction
from satchel.memory.candidates import Candidate, Candidates, Utterance
from satchel.memory.intent import Intent
from satchel.memory.late_interaction import best_cosines
from satchel.memory.terms import fold

Column = NDArray[np.float64]

PIECE_FLOOR = 0.3
"""Weight of a word piece that is part of no telling word, in units of inverse document frequency."""

LIFTS = {-1: 0.7, -2: 0.6, 1: 0.4, 2: 0.3}
"""How much of what a message so many places away meets better counts for one: an answer leans on the question before
it, and "I've had them for three years" on the turn before that."""

PRIOR_MESSAGES, PRIOR_FOUND = 100.0, 1.0
"""Everyday messages that are counted with those of the user: a word is rare or common also where little was said."""

WITHOUT_TOKENS = 0.05
"""What one deviation of likeness counts as meaning where an encoder gives no token vectors."""

PIECE_CHARS, MOST_PIECES = 4, 900
"""Characters of a word piece where an encoder does not tell, and pieces of the three passages that are read at most."""

K1, B, USUAL_TERMS = 1.2, 0.4, 20.0
FIELDS = {-1: 0.5, -2: 0.25, 1: 0.25, 2: 0.12}
FIELD_SPEAKER = 2.0

UNSTATED_USER = 0.7
"""A question about nobody in particular is mostly about what the user said, so far as one without a subject tells."""


@dataclass(frozen=True, slots=True)
class Features:
    """One column per feature, in the order of the messages they were read from.

    None depends on which other messages there are, but for the rarity of words and what stands beside a message.

    Attributes:
        meaning: Late interaction lifted by the neighbours, the query's pieces weighted by rarity; about 0 to 1.
        own_meaning: The same without the lift.
        words: BM25F over the message, its neighbours and its speaker's name.
        likeness: By how many deviations the cosine of the pooled vectors exceeds that of unrelated texts.
        role: 1 where the message is by the role that the query asks about.
        speaker: 1 where it is by a speaker whom the query names.
        question: 1 where it ends in a question.
        reaction: 1 where it opens with what its speaker makes of the message before.
        length: ln(1 + characters).
        time: 1 where the query asks when or how long and the message tells.
        place: 1 where the query asks where and the message may name a place.
        number: 1 where the query asks how many or how much and the message has a number.
        name: 1 where the query asks who or what something is called and the message has a name.
        days: How near the message is to the days that the query names, 0 to 1.
        exact: Where the query is keywords, the share of their rarity that the message itself contains, 0 to 1.
        other_role: 1 where the query asks what one side said and the message is by the other.
        foreign: 1 where it is written in another script than the query.
        pieces: ln(1 + word pieces): a long message has more chances to meet a query by accident.
    """

    meaning: Column
    own_meaning: Column
    words: Column
    likeness: Column
    role: Column
    speaker: Column
    question: Column
    reaction: Column
    length: Column
    time: Column
    place: Column
    number: Column
    name: Column
    days: Column
    exact: Column
    other_role: Column
    foreign: Column
    pieces: Column


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
    read = sorted(candidates.by_seq)
    at = {seq: row for row, seq in enumerate(read)}
    rows = [at[seq] for seq in seqs]
    beside = _beside(candidates, at)
    own = [candidates.by_seq[seq] for seq in seqs]
    messages = [candidate.message for candidate in own]
    contents = [message.content for message in messages]
    rarity = inverse_document_frequencies(candidates)
    scripts = np.array(scripts_of([candidates.by_seq[seq].message.content for seq in read]))
    likeness = _likeness(own, scripts[rows], intent.script, background)
    met = _late_interaction([candidates.by_seq[seq].tokens for seq in read], query, scripts, intent.script, background)
    meaning = own_meaning = likeness * WITHOUT_TOKENS
    if met is not None:
        weights = piece_weights(candidates, query, rarity)
        own_meaning = met[rows] @ weights
        # Bare words are looked for in the message itself.
        meaning = own_meaning if intent.keywords else _lifted(met, beside)[rows] @ weights
    return Features(
        meaning=meaning,
        own_meaning=own_meaning,
        words=_bm25f(candidates, read, beside, rarity)[rows],
        likeness=likeness,
        role=_role(messages, intent),
        speaker=_column([message.speaker in intent.speakers for message in messages]),
        question=_column([ends_with_question(content) for content in contents]),
        reaction=_column([opens_with_reaction(content) for content in contents]),
        length=np.log1p(_column([len(content) for content in contents])),
        time=np.maximum(_answers("time", intent, contents), _answers("duration", intent, contents)),
        place=_answers("place", intent, contents),
        number=_answers("number", intent, contents),
        name=_answers("name", intent, contents),
        days=_column(intent.nearness([message.created_at for message in messages])),
        exact=_own_coverage(own, rarity) if intent.keywords else np.zeros(len(own)),
        other_role=_column([intent.role not in (None, message.role) for message in messages]),
        foreign=_column(scripts[rows] != intent.script),
        pieces=np.log1p(_column([_pieces(candidate) for candidate in own])),
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


def _column(values: Sequence[float] | NDArray[np.bool_]) -> Column:
    return np.array(values, dtype=np.float64)


def _answers(kind: Kind, intent: Intent, contents: Sequence[str]) -> Column:
    """Return 1 for each message that may give an answer of a kind, where that is asked for."""
    if kind not in intent.asks:
        return np.zeros(len(contents))
    return _column([gives(kind, content) for content in contents])


def _beside(candidates: Candidates, at: Mapping[int, int]) -> dict[int, NDArray[np.intp]]:
    """Return for -2, -1, 1 and 2 the row of the message so many places away from that of each row.

    Where there is none it is the row after the last, which stands beside itself alone.
    """
    nothing = len(at)
    before, after = np.full((2, nothing + 1), nothing)
    for seq, previous in candidates.before.items():
        before[at[seq]] = at[previous]
        after[at[previous]] = at[seq]
    return {-2: before[before], -1: before, 1: after, 2: after[after]}


def _late_interaction(
    tokens: Sequence[NDArray[np.int8] | None],
    query: Encoding,
    scripts: NDArray[np.intp],
    asked: int,
    background: Background,
) -> NDArray[np.float32] | None:
    """Return how well each message meets each word piece of the query: 0 without tokens, None where none has any."""
    having = [row for row, vectors in enumerate(tokens) if vectors is not None and len(vectors)]
    if query.tokens is None or not len(query.tokens) or not having:
        return None
    cosines = np.zeros((len(tokens), len(query.tokens)), np.float32)
    cosines[having] = best_cosines(
        query.tokens,
        [vectors for vectors in tokens if vectors is not None and len(vectors)],
        query_mean=background.queries[background.rows(asked)],
        means=background.passages,
        rows=background.rows(scripts[having]).tolist(),
    )
    return cosines


def _lifted(cosines: NDArray[np.float32], beside: Mapping[int, NDArray[np.intp]]) -> NDArray[np.float32]:
    own = _with_nothing(cosines, below=-1)
    lift = np.zeros_like(own)
    for place, share in LIFTS.items():
        lift = np.maximum(lift, np.float32(share) * (own[beside[place]] - own))
    return (own + lift)[:-1]


def _bm25f(
    candidates: Candidates, read: Sequence[int], beside: Mapping[int, NDArray[np.intp]], rarity: Column
) -> Column:
    """BM25F: frequencies are added up over weighted fields before they saturate (Robertson et al., 2004)."""
    counts = np.zeros((len(read), len(candidates.words)))
    lengths = np.zeros((len(read), 1))
    names = np.zeros_like(counts)
    named = {name: _named(name, candidates) for name in candidates.speakers}
    for row, seq in enumerate(read):
        one = candidates.by_seq[seq]
        lengths[row] = one.length
        for index, frequency in one.frequencies.items():
            counts[row, index] = frequency
        if one.message.speaker in named:
            names[row] = named[one.message.speaker]
    frequencies = counts / (1 - B + B * lengths / USUAL_TERMS) + FIELD_SPEAKER * names
    everyone = _with_nothing(counts, below=0)
    for place, share in FIELDS.items():
        frequencies += share * everyone[beside[place][:-1]]
    return (frequencies * (K1 + 1) / (frequencies + K1)) @ rarity


def _with_nothing(rows: NDArray[Any], *, below: float) -> NDArray[Any]:
    """Add the row that stands for nothing; see `_beside`."""
    return np.pad(rows, ((0, 1), (0, 0)), constant_values=below)


def _named(speaker: str, candidates: Candidates) -> Column:
    """Return 1 for each word of the query that is part of a speaker's name."""
    names = {fold(part) for part in speaker.split()}
    return _column([word.word in names for word in candidates.words])


def _own_coverage(own: Sequence[Candidate], rarity: Column) -> Column:
    total = max(float(rarity.sum()), 1e-9)
    return _column([sum(float(rarity[index]) for index in candidate.frequencies) / total for candidate in own])


def _likeness(own: Sequence[Candidate], scripts: NDArray[np.intp], asked: int, background: Background) -> Column:
    similarities = _column([np.nan if candidate.similarity is None else candidate.similarity for candidate in own])
    levels = background.level[background.rows(asked), background.rows(scripts)]
    return np.nan_to_num((similarities - levels) / background.spread)


def _pieces(candidate: Candidate) -> float:
    if candidate.tokens is not None:
        return float(len(candidate.tokens))
    return min(len(candidate.message.content) / PIECE_CHARS, MOST_PIECES)


def _role(messages: Sequence[Utterance], intent: Intent) -> Column:
    if intent.role is not None:
        return _column([message.role == intent.role for message in messages])
    # What was talked about on a day shows best in what the user brought up.
    if intent.speakers or (intent.both and not intent.days_alone):
        return np.zeros(len(messages))
    return UNSTATED_USER * _column([message.role == "user" for message in messages])
