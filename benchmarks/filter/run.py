"""How well and how fast the response filter cuts labelled arrays, and what the sanitiser finds.

    python benchmarks/filter/run.py DATA_DIR --split public [--json]

DATA_DIR holds `relevance/{items,cases}.SPLIT.jsonl` and `secrets/secrets.SPLIT.jsonl`. Each case is a tool call, the
array it returned and the ids that matter; the product's own code reads the intent and cuts the array to 10 and to 20
items. CPU is ranking, selection and explanation. The last line is one JSON object.
"""

import argparse
import gc
import importlib.util
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from satchel.filtering.intent import analyze_intent
from satchel.filtering.payload import PayloadFilter
from satchel.filtering.removal import brief, count_by_reason, near_misses
from satchel.filtering.tool_profiles import default_profiles

METRICS = ("recall@10", "recall@20", "kept@10", "kept@20")


def read_lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def load_cases(folder: Path, split: str) -> list[dict[str, Any]]:
    pools = {(row["corpus"], row["pool"]): row["items"] for row in read_lines(folder / f"items.{split}.jsonl")}
    cases = read_lines(folder / f"cases.{split}.jsonl")
    for case in cases:
        corpus = "jira" if case["slice"].startswith("jira") else case["slice"]
        items = pools[corpus, case["pool"]]
        if "subset" in case:
            by_id = {item["id"]: item for item in items}
            items = [by_id[item_id] for item_id in case["subset"]]
        case["items"] = items
    return cases


def cut(case: dict[str, Any], profiles: Any, wanted: int) -> list[str]:
    """The ids kept of the case's array when `wanted` items are asked for, with all that an answer explains."""
    profile = profiles.of_tool(case["tool"])
    intent = analyze_intent(case["tool"], {**case["args"], "limit": wanted}, profile=profile)
    outcome = PayloadFilter(intent, profile).filter(case["items"])
    count_by_reason(outcome.removed)
    for removal in near_misses(outcome.removed):
        brief(removal.item)
    return [item["id"] for item in outcome.data]


def measure_relevance(cases: list[dict[str, Any]]) -> tuple[dict[str, dict[str, float]], float]:
    """Metrics by slice, and CPU milliseconds per 1,000 items."""
    profiles = default_profiles()
    by_slice: dict[str, list[dict[str, float]]] = defaultdict(list)
    for case in cases[:: max(1, len(cases) // 20)]:
        cut(case, profiles, 10)  # imports, compiled expressions
    gc.collect()
    started = time.process_time()
    tens = [cut(case, profiles, 10) for case in cases]
    cpu_s = time.process_time() - started
    for case, ten in zip(cases, tens, strict=True):
        sizes = {item["id"]: len(json.dumps(item, ensure_ascii=False)) for item in case["items"]}
        found: dict[str, float] = {}
        for wanted, kept in ((10, ten), (20, cut(case, profiles, 20))):
            relevant = set(case["relevant"])
            found[f"recall@{wanted}"] = len(relevant.intersection(kept)) / min(wanted, len(relevant))
            found[f"kept@{wanted}"] = sum(sizes[item] for item in kept) / sum(sizes.values())
        by_slice[case["slice"]].append(found)
    slices = {
        name: {metric: sum(row[metric] for row in rows) / len(rows) for metric in METRICS}
        for name, rows in by_slice.items()
    }
    return slices, cpu_s * 1e6 / sum(len(case["items"]) for case in cases)


def measure_sanitiser(data_dir: Path, split: str) -> dict[str, Any]:
    """What `secrets.py` beside this file measures; loaded by path, since its name is one of the standard library."""
    spec = importlib.util.spec_from_file_location("filter_secrets", Path(__file__).parent / "secrets.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.measure(data_dir, split)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--split", default="public")
    parser.add_argument("--json", action="store_true", help="print only the JSON object")
    arguments = parser.parse_args()
    slices, cpu_ms = measure_relevance(load_cases(arguments.data_dir / "relevance", arguments.split))
    macro = {metric: sum(row[metric] for row in slices.values()) / len(slices) for metric in METRICS}
    result: dict[str, Any] = {
        "macro": {metric: round(value, 4) for metric, value in macro.items()},
        "slices": {name: {m: round(value, 4) for m, value in row.items()} for name, row in slices.items()},
        "cpu_ms_per_1000_items": round(cpu_ms, 2),
        **measure_sanitiser(arguments.data_dir, arguments.split),
    }
    if not arguments.json:
        print(f"{'slice':18}" + "".join(f"{metric:>11}" for metric in METRICS))
        for name, row in (*slices.items(), ("MACRO", macro)):
            print(f"{name:18}" + "".join(f"{row[metric]:11.3f}" for metric in METRICS))
        print(f"CPU: {cpu_ms:.1f} ms per 1,000 items (ranking, selection, explanation)")
        for kind in ("secrets", "pii"):
            print(f"{kind}: recall {result[kind]['recall']:.3f}, precision {result[kind]['precision']:.3f}")
        print(f"negatives flagged {result['negatives_flagged']:.1%}, sanitiser {result['sanitiser_mb_per_s']:.1f} MB/s")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
