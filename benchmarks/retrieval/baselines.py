"""The usual ways to search a conversation, over the same messages and questions as the product."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import product
import psycopg
from numpy.typing import NDArray

from satchel.embeddings.e5 import E5Encoder
from satchel.embeddings.encoder import Encoder
from satchel.memory.terms import normalize, passage_terms, query_terms

Find = Callable[[str], list[str]]
Prepare = Callable[[dict[str, Any]], Find]

FULL_TEXT = """
SELECT id FROM baseline, to_tsquery('english', %(query)s) AS query
WHERE words @@ query ORDER BY ts_rank_cd(words, query) DESC, id LIMIT 50
"""
RRF_K = 60
"""Cormack, Clarke and Büttcher, "Reciprocal rank fusion", 2009."""


def cosine(encoder: Encoder, *, speakers: bool) -> Prepare:
    """Pooled cosine over the content, or over "Speaker: content"."""

    def prepare(conversation: dict[str, Any]) -> Find:
        messages = conversation["messages"]
        texts = [f"{m['speaker']}: {m['content']}" if speakers and m.get("speaker") else m["content"] for m in messages]
        vectors = np.stack([one.pooled for one in encoder.encode(texts, input_type="passage")])
        ids = [message["id"] for message in messages]
        return lambda text: order(ids, vectors @ encoder.encode([text], input_type="query")[0].pooled)

    return prepare


def bm25(conversation: dict[str, Any]) -> Find:
    """BM25 (k1 1.2, b 0.75) over the product's own terms."""
    messages = conversation["messages"]
    counts = [passage_terms(message["content"]) for message in messages]
    lengths = np.array([one.total() for one in counts], dtype=float)
    ids = [message["id"] for message in messages]

    def find(text: str) -> list[str]:
        scores = np.zeros(len(messages))
        for word in query_terms(normalize(text)):
            found = np.array([max((one[v] for v in word.variants), default=0) for one in counts], dtype=float)
            matching = (found > 0).sum()
            rarity = np.log(1 + (len(messages) - matching + 0.5) / (matching + 0.5))
            scores += rarity * found * 2.2 / (found + 1.2 * (0.25 + 0.75 * lengths / lengths.mean()))
        return order(ids, scores)

    return find


def fused(parts: Sequence[Prepare]) -> Prepare:
    """Reciprocal rank fusion of other ways."""

    def prepare(conversation: dict[str, Any]) -> Find:
        ways = [part(conversation) for part in parts]

        def find(text: str) -> list[str]:
            scores: dict[str, float] = {}
            for way in ways:
                for place, message_id in enumerate(way(text), 1):
                    scores[message_id] = scores.get(message_id, 0.0) + 1 / (RRF_K + place)
            return sorted(scores, key=lambda message_id: -scores[message_id])

        return find

    return prepare


def full_text(dsn: str) -> Prepare:
    """PostgreSQL's English full text, the words of the question OR-ed, by `ts_rank_cd`."""

    def prepare(conversation: dict[str, Any]) -> Find:
        connection = psycopg.connect(dsn, autocommit=True)
        connection.execute("DROP TABLE IF EXISTS baseline")
        connection.execute("CREATE TABLE baseline (id text, words tsvector)")
        for message in conversation["messages"]:
            values = (message["id"], message["content"])
            connection.execute("INSERT INTO baseline VALUES (%s, to_tsvector('english', %s))", values)

        def find(text: str) -> list[str]:
            query = " | ".join(f"'{word}'" for word in "".join(c if c.isalnum() else " " for c in text).split())
            return [row[0] for row in connection.execute(FULL_TEXT, {"query": query})]

        return find

    return prepare


def order(ids: Sequence[str], scores: NDArray[Any]) -> list[str]:
    return [ids[at] for at in np.argsort(-scores, kind="stable")[:50]]


@contextmanager
def available(models: Path) -> Iterator[dict[str, Prepare]]:
    """The rows that this machine can run, by name."""
    encoder = E5Encoder(models / "e5-small", shortened=False)
    with product.running_database() as (_database, dsn):
        yield {
            "e5-small cosine, content only": cosine(encoder, speakers=False),
            "e5-small cosine, speaker: content": cosine(encoder, speakers=True),
            "BM25, multilingual terms": bm25,
            "PostgreSQL full text, OR": full_text(dsn),
            "RRF of cosine and BM25": fused([cosine(encoder, speakers=True), bm25]),
        }
