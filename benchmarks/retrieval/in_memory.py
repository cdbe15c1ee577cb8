"""Small histories without a database: every message is a candidate, as the product's store would hand it over."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

import numpy as np

from satchel.embeddings.encoder import Encoder, Encoding
from satchel.memory.candidates import Candidate, Candidates
from satchel.memory.index import IndexEntry, index_entry
from satchel.memory.intent import Intent, read_intent
from satchel.memory.messages import Message
from satchel.memory.search_store import PASSAGES
from satchel.memory.terms import QueryTerm, normalize, query_terms


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """A message with its index entry."""

    message: Message
    entry: IndexEntry


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question as the product reads it in a history."""

    candidates: Candidates
    encoding: Encoding
    intent: Intent


class Reader:
    """Reads texts with one encoder, each question once.

    Args:
        encoder: For messages and questions.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self._question = lru_cache(None)(lambda text: encoder.encode([text], input_type="query")[0])

    def keep(self, message: Message) -> Kept:
        """Index a message."""
        return Kept(message, index_entry(message, self.encoder))

    def ask(self, history: Sequence[Kept], query: str, *, now: datetime) -> Asked:
        """Ask a history; its messages are numbered anew, in their order."""
        text = normalize(query).strip()
        encoding = self._question(text)
        asked = read_intent(text, speakers=(), now=now)
        words = tuple(query_terms(asked.subject) or query_terms(text))
        kept = [Kept(replace(one.message, seq=seq), one.entry) for seq, one in enumerate(history, 1)]
        by_seq = {one.message.seq: _candidate(one, encoding, words) for one in kept}
        documents: dict[int, int] = {}
        for candidate in by_seq.values():
            for index in candidate.frequencies:
                documents[index] = documents.get(index, 0) + 1
        found = Candidates(by_seq, frozenset(by_seq), _before(kept), words, documents, len(kept))
        return Asked(found, encoding, read_intent(text, speakers=found.speakers, now=now))


def _candidate(one: Kept, query: Encoding, words: Sequence[QueryTerm]) -> Candidate:
    counts = {at: _frequency(word, one.entry.terms) for at, word in enumerate(words)}
    found = {at: count for at, count in counts.items() if count}
    passages = sorted(one.entry.passages, key=lambda passage: -float(passage.embedding @ query.pooled))
    tokens = [passage.tokens for passage in passages[:PASSAGES] if passage.tokens is not None]
    return Candidate(
        one.message,
        float(passages[0].embedding @ query.pooled),
        np.concatenate(tokens) if tokens else None,
        found,
        sum(one.entry.terms.values()) if found else 0,
    )


def _frequency(word: QueryTerm, terms: dict[str, int]) -> int:
    begun = [count for term, count in terms.items() if word.prefix and term.startswith(word.prefix)]
    return max([*begun, *(terms.get(variant, 0) for variant in word.variants)])


def _before(kept: Sequence[Kept]) -> dict[int, int]:
    before: dict[int, int] = {}
    last: dict[str, int] = {}
    for one in kept:
        if one.message.session_id in last:
            before[one.message.seq] = last[one.message.session_id]
        last[one.message.session_id] = one.message.seq
    return before
