"""The SQL of search: index rows written, candidates read. All of it as one user."""

import itertools
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from satchel.embeddings.encoder import Encoding
from satchel.memory.candidates import Candidate, Candidates, Corpus, Filters, Utterance
from satchel.memory.index import IndexEntry
from satchel.memory.messages import Message
from satchel.memory.terms import QueryTerm
from satchel.postgres.database import Connection, Database, bare_rows
from satchel.postgres.queries import load_queries

if TYPE_CHECKING:
    from psycopg import Cursor
    from psycopg.rows import TupleRow

_SQL = load_queries("satchel.memory")

NEAREST = 80
"""Messages that enter the ranking by meaning, and as many by words."""

DATED = 20
"""Messages that enter by being of a day that the query names, nearest in meaning first."""

REACH = 2
"""Messages on each side that enter with each of these: what answers often stands beside what matches."""

PASSAGES = 3
"""Passages of a long message that are compared word by word."""

SMALLINT_MAX = 32_767


class SearchStore:
    """The search index of one user.

    Args:
        database: The store.
        user_id: Whose messages; every statement runs as this user.
    """

    def __init__(self, database: Database, user_id: str) -> None:
        self._database = database
        self._user_id = user_id

    def write_entry(self, message: Message, entry: IndexEntry) -> None:
        """Replace the index rows of a message, all or none. A message that is gone by now gets none.

        Args:
            message: A stored message.
            entry: What to store of it.
        """
        key = {"user_id": self._user_id, "seq": message.seq}
        with self._database.transaction(self._user_id) as connection, connection.pipeline():
            connection.execute(_SQL["forget_passages"], key)
            connection.execute(_SQL["forget_terms"], key)
            connection.execute(_SQL["insert_terms"], {**key, **_term_columns(entry)})
            connection.execute(_SQL["insert_passages"], {**key, **_passage_columns(entry)})

    def unindexed_messages(self, *, encoder: str, limit: int) -> list[Message]:
        """Return the earliest messages that have no vectors of an encoder."""
        rows = self._database.fetch_all(self._user_id, _SQL["unindexed_messages"], encoder=encoder, limit=limit)
        return [Message(**row) for row in rows]

    def corpus(self, filters: Filters) -> Corpus:
        """Return how many messages the filters let through, and what else is to be known of them."""
        (row,) = self._database.fetch_all(self._user_id, _SQL["searched_corpus"], **_filter_values(filters))
        return Corpus(**row)

    def newest(self, filters: Filters, *, after: tuple[datetime, int] | None, limit: int) -> list[Message]:
        """Return messages that the filters let through, newest first.

        Args:
            filters: Which messages.
            after: Only those older than this place, a (`created_at`, `seq`).
            limit: At most this many.
        """
        after_at, after_seq = after or (None, None)
        values = {**_filter_values(filters), "after_at": after_at, "after_seq": after_seq, "limit": limit}
        return [Message(**row) for row in self._database.fetch_all(self._user_id, _SQL["newest_messages"], **values)]

    def messages(self, seqs: Sequence[int]) -> dict[int, Message]:
        """Return messages by their `seq`; one that is gone by now is missing."""
        with self._database.transaction(self._user_id) as connection:
            return _messages(connection, self._user_id, seqs)

    def neighbours(self, seqs: Sequence[int], *, reach: int) -> dict[int, list[Message]]:
        """Return for each message those up to `reach` places before and after it in its session, in order."""
        with self._database.transaction(self._user_id) as connection:
            around = _surroundings(connection, self._user_id, seqs, reach, as_of=None)
            beside = sorted({seq for places in around.values() for seq in places.values()})
            messages = _messages(connection, self._user_id, beside)
        return {seq: [messages[around[seq][place]] for place in sorted(around.get(seq, {}))] for seq in seqs}

    def candidates(
        self,
        *,
        query: Encoding,
        encoder: str,
        words: Sequence[QueryTerm],
        days: Sequence[tuple[datetime, datetime]],
        filters: Filters,
        corpus: int,
    ) -> Candidates:
        """Return what may answer a query: the nearest by meaning, the best by words, and the messages beside them.

        Exact: every passage of the user that the filters let through is compared, and every posting counted.

        Args:
            query: The query's vectors.
            encoder: Name of the encoder that made them; vectors of others do not take part.
            words: The query's words.
            days: Spans of time [since, until) that the query names; the nearest messages of each take part.
            filters: Which messages may be returned. The messages beside them may be any.
            corpus: How many messages these are.
        """
        vector = _vector_text(query.pooled)
        lookup = {"user_id": self._user_id, "encoder": encoder, "embedding": vector, **_lookup(words)}
        limits = {**_filter_values(filters), "filtered": filters.narrow, "corpus": corpus, "limit": NEAREST}
        spans = [{**lookup, **_within(limits, span)} for span in days]
        with self._database.transaction(self._user_id) as connection:
            # What does not wait for another answer goes out together: a round trip costs more than a statement.
            with connection.pipeline():
                near = [bare_rows(connection, _SQL["nearest_messages"], {**lookup, **limits})]
                near += [bare_rows(connection, _SQL["nearest_of_days"], span) for span in spans]
                matching = bare_rows(connection, _SQL["keyword_matches"], {**lookup, **limits}) if words else None
            by_words, documents = _matching(matching)
            first = {*by_words, *(seq for cursor in near for (seq,) in cursor.fetchall())}
            around = _surroundings(connection, self._user_id, sorted(first), REACH, as_of=filters.as_of)
            everyone = sorted(first.union(*(places.values() for places in around.values())))
            read = {**lookup, "seqs": _array_text(everyone), "passages": PASSAGES}
            with connection.pipeline():
                utterances = bare_rows(connection, _SQL["utterances"], read)
                vectors = bare_rows(connection, _SQL["candidate_vectors"], read)
                counts = bare_rows(connection, _SQL["term_frequencies"], read)
            by_seq = _by_seq(utterances, vectors, counts, 0 if query.tokens is None else query.tokens.shape[1])
        ranked = frozenset(seq for seq, one in by_seq.items() if filters.admit(one.message))
        return Candidates(by_seq, ranked, _before(around, by_seq), tuple(words), documents, corpus)


def _matching(cursor: "Cursor[TupleRow] | None") -> tuple[list[int], dict[int, int]]:
    rows = [] if cursor is None else cursor.fetchall()
    seqs = [seq for seq, _, _ in rows if seq is not None]
    return seqs, {word: messages for seq, word, messages in rows if seq is None}


def _surroundings(
    connection: Connection, user_id: str, seqs: Sequence[int], reach: int, *, as_of: int | None
) -> dict[int, dict[int, int]]:
    around: dict[int, dict[int, int]] = {}
    values = {"user_id": user_id, "seqs": _array_text(seqs), "reach": reach, "as_of": as_of}
    for seq, place, beside in bare_rows(connection, _SQL["surroundings"], values).fetchall():
        around.setdefault(seq, {})[place] = beside
    return around


def _before(around: Mapping[int, Mapping[int, int]], known: Container[int]) -> dict[int, int]:
    """Return for each message the one before it, as far as the surroundings of any tell."""
    before: dict[int, int] = {}
    for seq, places in around.items():
        run = [beside for _, beside in sorted({**places, 0: seq}.items())]
        before |= {after: one for one, after in itertools.pairwise(run) if one in known and after in known}
    return before


def _messages(connection: Connection, user_id: str, seqs: Sequence[int]) -> dict[int, Message]:
    rows = connection.execute(_SQL["messages_by_arrival"], {"user_id": user_id, "seqs": _array_text(seqs)})
    return {row["seq"]: Message(**row) for row in rows}


def _by_seq(
    utterances: "Cursor[TupleRow]", vectors: "Cursor[TupleRow]", counts: "Cursor[TupleRow]", width: int
) -> dict[int, Candidate]:
    known, frequencies = _vectors(vectors, width), _frequencies(counts)
    return {
        row[0]: Candidate(Utterance(*row), *known.get(row[0], (None, None)), *frequencies.get(row[0], ({}, 0)))
        for row in utterances.fetchall()
    }


def _vectors(cursor: "Cursor[TupleRow]", width: int) -> dict[int, tuple[float, NDArray[np.int8] | None]]:
    """Return for each message its similarity, and the token vectors of its passages: a view into those of all."""
    rows = cursor.fetchall()
    packed = b"".join(row[3] for row in rows if row[3] is not None) if width else b""
    tokens = np.frombuffer(packed, np.int8).reshape(-1, width or 1)
    spans: dict[int, tuple[float, int, int]] = {}
    end = 0
    for seqs, similarities, sizes, _ in rows:
        for seq, similarity, size in zip(seqs, similarities, sizes, strict=True):
            start, end = end, end + size
            nearest, first, _ = spans.get(seq, (similarity, start, end))
            spans[seq] = (nearest, first, end)
    return {
        seq: (similarity, tokens[start // width : end // width] if packed and start < end else None)
        for seq, (similarity, start, end) in spans.items()
    }


def _frequencies(cursor: "Cursor[TupleRow]") -> dict[int, tuple[dict[int, int], int]]:
    """Return for each message how often it has each word, and how many terms it has."""
    return {seq: (dict(zip(words, times, strict=True)), length) for seq, words, times, length in cursor.fetchall()}


def _filter_values(filters: Filters) -> dict[str, Any]:
    return {
        "since": filters.since,
        "until": filters.until,
        "session_id": filters.session_id,
        "role": filters.role,
        "as_of": filters.as_of,
    }


def _within(limits: dict[str, Any], span: tuple[datetime, datetime]) -> dict[str, Any]:
    """Return the limits of a search narrowed to a span of time."""
    since, until = span
    return {
        **limits,
        "since": max(since, limits["since"] or since),
        "until": min(until, limits["until"] or until),
        "limit": DATED,
    }


def _lookup(words: Sequence[QueryTerm]) -> dict[str, list[Any]]:
    exact = [(index, term) for index, word in enumerate(words) for term in sorted(word.variants)]
    begun = [(index, word.prefix) for index, word in enumerate(words) if word.prefix]
    return {
        "words": [index for index, _ in exact],
        "terms": [term for _, term in exact],
        "prefix_words": [index for index, _ in begun],
        "prefixes": [prefix for _, prefix in begun],
    }


def _term_columns(entry: IndexEntry) -> dict[str, Any]:
    terms = sorted(entry.terms)
    return {
        "terms": terms,
        "frequencies": [min(entry.terms[term], SMALLINT_MAX) for term in terms],
        "message_terms": min(sum(entry.terms.values()), SMALLINT_MAX),
    }


def _passage_columns(entry: IndexEntry) -> dict[str, Any]:
    return {
        "encoder": entry.encoder,
        "passages": list(range(len(entry.passages))),
        "embeddings": [_vector_text(passage.embedding) for passage in entry.passages],
        "tokens": [None if passage.tokens is None else passage.tokens.tobytes() for passage in entry.passages],
    }


def _vector_text(vector: Iterable[float]) -> str:
    """Write a vector as pgvector reads it, at the precision it is stored with."""
    halves = np.asarray(vector, dtype=np.float16).tolist()
    # Five digits tell every half-precision number from its neighbours.
    return "[" + ",".join(["%.5g"] * len(halves)) % tuple(halves) + "]"


def _array_text(numbers: Iterable[int]) -> str:
    """Write whole numbers as PostgreSQL reads an array: the driver takes longer for a list of hundreds."""
    return "{" + ",".join(map(str, numbers)) + "}"
