"""Redaction: recall, precision and speed of the sanitiser on labelled documents.

    python benchmarks/filter/secrets.py DATA_DIR [--split public] [--misses]

DATA_DIR holds `secrets/secrets.SPLIT.jsonl` (documents with labelled spans) and `relevance/items.SPLIT.jsonl` (tool
results as they come, for the speed). The last line printed is one JSON object.
"""

import argparse
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

from satchel.filtering.sanitiser.sanitiser import Sanitiser

_PII = frozenset({"email", "phone", "ssn", "credit_card", "ipv4", "ipv6", "iban"})
_COVERED = 0.9


def measure(data_dir: Path, split: str, *, misses: bool = False) -> dict[str, Any]:
    """Score the sanitiser as the reference scorer does; a false positive counts for the class it was given."""
    sanitiser = Sanitiser()
    found: Counter[str] = Counter()
    labelled: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    negatives = flagged = 0
    for document in _lines(data_dir / "secrets" / f"secrets.{split}.jsonl"):
        spans = sanitiser.spans(document["text"])
        covered = {index for span in spans for index in range(span.start, span.end)}
        for start, end, kind in document["spans"]:
            finding_class = "pii" if kind in _PII else "secret"
            hit = sum(index in covered for index in range(start, end)) >= _COVERED * (end - start)
            labelled[finding_class] += 1
            found[finding_class] += hit
            if misses and not hit:
                print("missed", document["id"], kind)
        for span in spans:
            if not any(span.start < end and span.end > start for start, end, _ in document["spans"]):
                wrong[span.finding_class] += 1
                if misses:
                    print("wrong", document["id"], span.rule)
        if document["cls"] == "negative":
            negatives += 1
            flagged += bool(spans)
    return {
        **{
            key: {
                "recall": round(found[name] / max(1, labelled[name]), 4),
                "precision": round(found[name] / max(1, found[name] + wrong[name]), 4),
            }
            for key, name in (("secrets", "secret"), ("pii", "pii"))
        },
        "negatives_flagged": round(flagged / max(1, negatives), 4),
        "sanitiser_mb_per_s": round(_speed(sanitiser, data_dir / "relevance" / f"items.{split}.jsonl"), 1),
    }


def _speed(sanitiser: Sanitiser, path: Path) -> float:
    """MB of JSON sanitised per second of CPU: tool results of each pool, best of three."""
    values = [line["items"] for line in _lines(path)]
    size = sum(len(json.dumps(value, ensure_ascii=False).encode()) for value in values)
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        for value in values:
            sanitiser.sanitise(value)
        best = min(best, time.process_time() - started)
    return size / best / 1e6


def _lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--split", default="public")
    parser.add_argument("--misses", action="store_true", help="name the documents that went wrong")
    arguments = parser.parse_args()
    result = measure(arguments.data_dir, arguments.split, misses=arguments.misses)
    for key in ("secrets", "pii"):
        print(f"{key:10s} recall {result[key]['recall']:.3f}  precision {result[key]['precision']:.3f}")
    print(f"negatives flagged {result['negatives_flagged']:.3f}   {result['sanitiser_mb_per_s']} MB/s")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
