"""What a search and a save cost as one user's history grows beside the rows of others.

usage: scale.py [--sizes 1000 10000] [--others 100000] [--queries 30] [--encoder minilm] [--models DIR]

All messages but the queries' are synthetic: texts of common words, random vectors. CPU is that of this process, as a
function would spend it, the encoder included; wall time includes the database. Last line: JSON.
"""

import argparse
import json
import os
import resource
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

# As in template.yaml: on a core of its own, a second thread of the matrix library only waits.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import product
import psycopg
from run import MODELS

from satchel.embeddings.encoder import Encoder
from satchel.memory.indexing import index_message
from satchel.memory.messages import NewMessage
from satchel.memory.search import search
from satchel.memory.search_store import SearchStore
from satchel.memory.store import ConversationStore

WORDS = 4_000
WORDS_PER_MESSAGE = 18
PIECES = 30
QUERY = "what did I say about word17 and word230 last week?"
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def fill(dsn: str, user: str, messages: int, encoder: Encoder, *, whole: bool) -> None:
    """Give a user synthetic messages; without `whole`, vectors only."""
    draw = np.random.default_rng(messages)
    width = encoder.encode(["x"], input_type="query")[0].tokens.shape[1]
    with psycopg.connect(dsn) as connection, connection.cursor() as cursor:
        with cursor.copy(
            "COPY conversation_history (user_id, session_id, message_id, role, content, created_at, timestamp_given)"
            " FROM STDIN"
        ) as rows:
            texts = [draw.zipf(1.3, WORDS_PER_MESSAGE) % WORDS for _ in range(messages)]
            for number, text in enumerate(texts):
                said = NOW - timedelta(minutes=10 * (messages - number))
                content = " ".join(f"word{word}" for word in text)
                rows.write_row((user, f"s{number // 40}", f"m{number}", "user", content, said, True))
        cursor.execute("SELECT seq FROM conversation_history WHERE user_id = %s ORDER BY seq", (user,))
        seqs = [row[0] for row in cursor.fetchall()]
        with cursor.copy(
            "COPY message_passages (user_id, seq, passage, session_id, role, created_at, encoder, embedding, tokens)"
            " FROM STDIN"
        ) as rows:
            for number, seq in enumerate(seqs):
                vector = "[" + ",".join(map(str, draw.normal(size=384).astype(np.float16).tolist())) + "]"
                tokens = draw.integers(-127, 127, PIECES * width).astype(np.int8).tobytes() if whole else None
                said = NOW - timedelta(minutes=10 * (messages - number))
                rows.write_row((user, seq, 0, f"s{number // 40}", "user", said, encoder.name, vector, tokens))
        if whole:
            with cursor.copy("COPY message_terms (user_id, term, seq, frequency, message_terms) FROM STDIN") as rows:
                for seq, text in zip(seqs, texts, strict=True):
                    for word, times in zip(*np.unique(text, return_counts=True), strict=True):
                        rows.write_row((user, f"word{word}", seq, int(times), WORDS_PER_MESSAGE))


def measure(database: Any, user: str, encoder: Encoder, queries: int) -> dict[str, float]:
    store = SearchStore(database, user)
    for _ in range(3):
        search(store, encoder, QUERY, clock=lambda: NOW, min_score=0)
    walls, began = [], time.process_time()
    for _ in range(queries):
        start = time.perf_counter()
        search(store, encoder, QUERY, clock=lambda: NOW, min_score=0)
        walls.append(time.perf_counter() - start)
    cpu = time.process_time() - began
    began = time.process_time()
    for number in range(queries):
        message, _ = ConversationStore(database, user).insert_message(
            NewMessage("new", f"n{number}", "user", f"I painted the garden gate green on day {number}.", {}, NOW), NOW
        )
        index_message(message, store=store, encoder=encoder)
    saving = time.process_time() - began
    return {
        "search_cpu_ms": round(1000 * cpu / queries, 2),
        "search_p50_ms": round(1000 * float(np.median(walls)), 2),
        "search_p95_ms": round(1000 * float(np.quantile(walls, 0.95)), 2),
        "save_cpu_ms": round(1000 * saving / queries, 2),
    }


def encoder_cost(encoder: Encoder, queries: int) -> float:
    began = time.process_time()
    for _ in range(queries):
        encoder.encode([QUERY], input_type="query")
    return round(1000 * (time.process_time() - began) / queries, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--others", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=30)
    parser.add_argument("--encoder", choices=product.ENCODERS, default="e5-small")
    parser.add_argument("--models", type=Path, default=MODELS)
    given = parser.parse_args()
    encoder = product.ENCODERS[given.encoder](given.models / given.encoder)
    result: dict[str, Any] = {}
    with product.running_database() as (database, dsn):
        for part in range(0, given.others, 10_000):
            fill(dsn, f"other{part}", min(10_000, given.others - part), encoder, whole=False)
        for size in given.sizes:
            fill(dsn, f"user{size}", size, encoder, whole=True)
            product.analyze(dsn)
            result[str(size)] = measure(database, f"user{size}", encoder, given.queries)
            print(size, result[str(size)], flush=True)
    result["encode_query_cpu_ms"] = encoder_cost(encoder, given.queries)
    result["peak_rss_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
