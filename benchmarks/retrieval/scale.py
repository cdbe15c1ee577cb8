"""What a search and a save cost as one user's history grows beside the rows of others.

usage: scale.py [--sizes 1000 10000] [--others 100000] [--queries 30] [--encoder minilm] [--models DIR]

All messages but the queries' are synthetic: texts of common words, random vectors; those of others have no token
vectors. CPU is that of this process, as a function would spend it, apart for the encoder that reads the question and
for all the rest; a process that waits for the database spends none. Wall time is that of a search from end to end, the
database on the same machine. `load`: processes that wanted a core meanwhile, this one and its database among them.
Last line: JSON.
"""

import argparse
import json
import os
import resource
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

# As in template.yaml: on a core of its own, a second thread of the matrix library only waits.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import bulk
import numpy as np
import product
import psycopg
from run import MODELS

from satchel.embeddings.encoder import Encoder, Encoding, InputType
from satchel.memory.indexing import index_message
from satchel.memory.messages import NewMessage
from satchel.memory.search import search
from satchel.memory.search_store import SearchStore
from satchel.memory.store import ConversationStore

WORDS = 4_000
WORDS_PER_MESSAGE = 18
PIECES = 30
FIRST_WORD = 1_000
"""Words are numbered from here, so that all are equally long."""
PART = 10_000
"""Messages of one user among the others, and messages that are written at once."""
QUERY = "what did I say about word1017 and word1230 last week?"
NOW = datetime(2026, 3, 1, tzinfo=UTC)
WARM_UP = 12
"""Searches before the measured ones: from the tenth on, PostgreSQL plans a statement no more."""


class TimedEncoder:
    """An encoder that adds up the CPU it spends."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.name, self.dimensions, self.background = encoder.name, encoder.dimensions, encoder.background
        self.cpu_s = 0.0

    def encode(self, texts: Sequence[str], *, input_type: InputType) -> list[Encoding]:
        """Encode, see `satchel.embeddings.encoder`."""
        began = time.process_time()
        try:
            return self._encoder.encode(texts, input_type=input_type)
        finally:
            self.cpu_s += time.process_time() - began


def fill(dsn: str, user: str, messages: int, encoder: Encoder, *, whole: bool) -> None:
    """Give a user synthetic messages, ten minutes apart, forty to a session; without `whole`, vectors only."""
    draw = np.random.default_rng(messages)
    with psycopg.connect(dsn) as connection, connection.cursor() as cursor:
        # The rows fit together as they are made: checking each takes longer than writing it.
        cursor.execute("SET session_replication_role = replica")
        for begin in range(0, messages, PART):
            numbers = np.arange(begin, min(begin + PART, messages))
            said = np.datetime64(NOW.replace(tzinfo=None)) - (messages - numbers) * np.timedelta64(10, "m")
            shared = {
                "user_id": np.full(len(numbers), user.encode()),
                "session_id": bulk.texts("s%05d", numbers // 40),
                "role": np.full(len(numbers), b"user"),
                "created_at": bulk.instants(said),
            }
            words = FIRST_WORD + draw.zipf(1.3, (len(numbers), WORDS_PER_MESSAGE)) % WORDS
            seqs = write_messages(cursor, shared, numbers, words)
            write_passages(cursor, shared, seqs, encoder, draw, whole=whole)
            if whole:
                write_terms(cursor, user, seqs, words)


def write_messages(cursor: psycopg.Cursor, shared: dict[str, Any], numbers: np.ndarray, words: np.ndarray) -> Any:
    letters = bulk.texts("word%d", words).view(np.uint8).reshape(*words.shape, -1)
    spaced = np.pad(letters, ((0, 0), (0, 0), (0, 1)), constant_values=ord(" ")).reshape(len(words), -1)
    (row,) = cursor.execute("SELECT coalesce(max(seq), 0) FROM conversation_history").fetchall()
    seqs = row[0] + 1 + np.arange(len(numbers))
    columns = {
        **shared,
        "message_id": bulk.texts("m%07d", numbers),
        "seq": bulk.whole_numbers(seqs, 8),
        "content": spaced[:, :-1],
        "timestamp_given": np.ones(len(numbers), np.uint8),
    }
    bulk.copy_rows(cursor, "conversation_history", columns)
    cursor.execute("SELECT setval(pg_get_serial_sequence('conversation_history', 'seq'), %s)", (int(seqs[-1]),))
    return seqs


def write_passages(
    cursor: psycopg.Cursor, shared: dict[str, Any], seqs: Any, encoder: Encoder, draw: Any, *, whole: bool
) -> None:
    columns = {
        **shared,
        "seq": bulk.whole_numbers(seqs, 8),
        "passage": np.zeros(len(seqs), ">i2"),
        "encoder": np.full(len(seqs), encoder.name.encode()),
        "embedding": bulk.half_vectors(draw.standard_normal((len(seqs), encoder.dimensions), np.float32)),
    }
    if whole:
        (encoding,) = encoder.encode(["x"], input_type="query")
        width = 0 if encoding.tokens is None else encoding.tokens.shape[1]
        columns["tokens"] = draw.integers(-127, 127, (len(seqs), PIECES * width), np.int8)
    bulk.copy_rows(cursor, "message_passages", columns)


def write_terms(cursor: psycopg.Cursor, user: str, seqs: Any, words: np.ndarray) -> None:
    places = np.arange(len(words))[:, np.newaxis] * (FIRST_WORD + WORDS) + words
    found, times = np.unique(places, return_counts=True)
    columns = {
        "user_id": np.full(len(found), user.encode()),
        "term": bulk.texts("word%d", found % (FIRST_WORD + WORDS)),
        "seq": bulk.whole_numbers(seqs[found // (FIRST_WORD + WORDS)], 8),
        "frequency": bulk.whole_numbers(times, 2),
        "message_terms": np.full(len(found), WORDS_PER_MESSAGE, ">i2"),
    }
    bulk.copy_rows(cursor, "message_terms", columns)


def measure(database: Any, user: str, encoder: TimedEncoder, queries: int) -> dict[str, float]:
    store = SearchStore(database, user)
    for _ in range(WARM_UP):
        search(store, encoder, QUERY, clock=lambda: NOW, min_score=0)
    walls, encoder.cpu_s, began = [], 0.0, time.process_time()
    for _ in range(queries):
        start = time.perf_counter()
        search(store, encoder, QUERY, clock=lambda: NOW, min_score=0)
        walls.append(time.perf_counter() - start)
    cpu, reading = time.process_time() - began, encoder.cpu_s
    began = time.process_time()
    for number in range(queries):
        message, _ = ConversationStore(database, user).insert_message(
            NewMessage("new", f"n{number}", "user", f"I painted the garden gate green on day {number}.", {}, NOW), NOW
        )
        index_message(message, store=store, encoder=encoder)
    saving = time.process_time() - began
    return {
        "search_p50_ms": round(1000 * float(np.median(walls)), 2),
        "search_p95_ms": round(1000 * float(np.quantile(walls, 0.95)), 2),
        "search_cpu_ms": round(1000 * cpu / queries, 2),
        "encoder_cpu_ms": round(1000 * reading / queries, 2),
        "rest_cpu_ms": round(1000 * (cpu - reading) / queries, 2),
        "save_cpu_ms": round(1000 * saving / queries, 2),
        "load": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--others", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=30)
    parser.add_argument("--encoder", choices=product.ENCODERS, default="e5-small")
    parser.add_argument("--models", type=Path, default=MODELS)
    given = parser.parse_args()
    encoder = TimedEncoder(product.ENCODERS[given.encoder](given.models / given.encoder))
    result: dict[str, Any] = {}
    with product.running_database() as (database, dsn):
        for part in range(0, given.others, PART):
            fill(dsn, f"other{part}", min(PART, given.others - part), encoder, whole=False)
        for size in given.sizes:
            fill(dsn, f"user{size}", size, encoder, whole=True)
        product.analyze(dsn)
        for size in given.sizes:
            result[str(size)] = measure(database, f"user{size}", encoder, given.queries)
            print(size, result[str(size)], flush=True)
    result["peak_rss_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
