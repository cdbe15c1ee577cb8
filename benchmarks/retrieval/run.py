"""How well the product finds the messages that answer, beside the usual ways to search.

usage: run.py FILE.jsonl [--query-field q_ko] [--encoder minilm] [--models DIR] [--baselines] [--json]

Saves each conversation as one user through the product's own code into an embedded PostgreSQL and asks its questions
with `search` (min_score 0, limit 50). `r5`, `r10`: share of a question's evidence among the first 5, 10; `hit5`: share
of questions with any evidence among the first 5; `mrr`: mean reciprocal rank of the first. `rejected_at_89`: the share
of questions of *other* conversations that a threshold rejects which keeps 89 % of this one's. `…_at_0.2`: at the
default floor; `evidence_shown`: share of questions with evidence among the five hits that the default search returns.
Last line: JSON.
"""

import argparse
import json
import os
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

# As in template.yaml: on a core of its own, a second thread of the matrix library only waits.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import product

from satchel.embeddings.encoder import Encoder
from satchel.memory.search import search
from satchel.memory.search_store import SearchStore

MODELS = Path(__file__).parents[2] / "layers" / "embeddings" / "build" / "models"
FOREIGN = 40
"""Questions of other conversations asked in each."""


def measures(ranked: Sequence[str], evidence: frozenset[str]) -> dict[str, float]:
    found = [1.0 if message_id in evidence else 0.0 for message_id in ranked]
    first = found.index(1.0) + 1 if 1.0 in found else 0
    return {
        "r5": sum(found[:5]) / len(evidence),
        "r10": sum(found[:10]) / len(evidence),
        "hit5": float(any(found[:5])),
        "mrr": 1 / first if first else 0.0,
    }


def mean(rows: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(sum(row[name] for row in rows) / len(rows), 4) for name in rows[0]}


def foreign_questions(conversations: list[dict[str, Any]], own: int, field: str) -> list[product.Question]:
    others = [
        question
        for index, conversation in enumerate(conversations)
        if index != own
        for question in product.questions_of(conversation, field)
    ]
    return random.Random(own).sample(others, min(FOREIGN, len(others)))


def rejected_at_89(own: list[float], foreign: list[float]) -> float | None:
    if not foreign:
        return None
    threshold = float(np.quantile(own, 0.11))
    return round(sum(score < threshold for score in foreign) / len(foreign), 4)


def run_product(conversations: list[dict[str, Any]], field: str, encoder: Encoder) -> dict[str, Any]:
    rows: list[dict[str, float]] = []
    own: list[float] = []
    shown: list[bool] = []
    foreign: list[float] = []
    spent = {"save": 0.0, "saves": 0, "search": 0.0, "searches": 0}
    with product.running_database() as (database, dsn):
        for number, conversation in enumerate(conversations):
            began = time.process_time()
            now = product.save_conversation(database, conversation, encoder)
            spent["save"] += time.process_time() - began
            spent["saves"] += len(conversation["messages"])
            product.analyze(dsn)
            store = SearchStore(database, conversation["conversation_id"])

            def ask(text: str, store: SearchStore = store, now: Any = now) -> Any:
                return search(store, encoder, text, clock=lambda: now, min_score=0, limit=50).hits

            began = time.process_time()
            for question in product.questions_of(conversation, field):
                hits = ask(question.text)
                rows.append(measures([hit.message.message_id for hit in hits], question.evidence))
                own.append(hits[0].score if hits else 0.0)
                shown.append(any(hit.score >= 0.2 and hit.message.message_id in question.evidence for hit in hits[:5]))
                spent["searches"] += 1
            spent["search"] += time.process_time() - began
            for question in foreign_questions(conversations, number, field):
                hits = ask(question.text)
                foreign.append(hits[0].score if hits else 0.0)
    floor = {
        "answerable_kept_at_0.2": round(sum(score >= 0.2 for score in own) / len(own), 4),
        "evidence_shown_at_0.2": round(sum(shown) / len(shown), 4),
        "unanswerable_rejected_at_0.2": round(sum(score < 0.2 for score in foreign) / len(foreign), 4)
        if foreign
        else None,
        "save_cpu_ms": round(1000 * spent["save"] / spent["saves"], 2),
        "search_cpu_ms": round(1000 * spent["search"] / spent["searches"], 2),
    }
    return {**mean(rows), "rejected_at_89": rejected_at_89(own, foreign), "n": len(rows), **floor}


def run_baseline(
    conversations: list[dict[str, Any]], field: str, prepare: Callable[[dict[str, Any]], Callable[[str], list[str]]]
) -> dict[str, float]:
    rows: list[dict[str, float]] = []
    for conversation in conversations:
        find = prepare(conversation)
        rows += [measures(find(asked.text), asked.evidence) for asked in product.questions_of(conversation, field)]
    return mean(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--query-field", default="q")
    parser.add_argument("--encoder", choices=product.ENCODERS, default="e5-small")
    parser.add_argument("--models", type=Path, default=MODELS, help="made by `python -m satchel.embeddings.build`")
    parser.add_argument("--baselines", action="store_true", help="also run the usual ways to search")
    parser.add_argument("--json", action="store_true", help="print the JSON line alone")
    given = parser.parse_args()
    conversations = product.read_conversations(given.file)
    encoder = product.ENCODERS[given.encoder](given.models / given.encoder)
    result = run_product(conversations, given.query_field, encoder)
    table = {"satchel": result}
    if given.baselines:
        import baselines  # noqa: PLC0415 - needs packages of the cache folder

        with baselines.available(given.models) as rows:
            table |= {name: run_baseline(conversations, given.query_field, prepare) for name, prepare in rows.items()}
    if not given.json:
        print(f"{'':34s}{'R@5':>7s}{'R@10':>7s}{'hit@5':>7s}{'MRR':>7s}")
        for name, row in table.items():
            print(f"{name:34s}" + "".join(f"{row[key]:7.3f}" for key in ("r5", "r10", "hit5", "mrr")))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
