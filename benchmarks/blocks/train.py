"""Learns the continuity score from labelled sessions and writes the file that ships with the package.

    python benchmarks/blocks/train.py DATA.jsonl                    cross-validated table
    python benchmarks/blocks/train.py DATA.jsonl --leave-one-out    each corpus scored by a model that never saw it
    python benchmarks/blocks/train.py DATA.jsonl --write            the model file, from all lines we may learn from

Needs lightgbm, scikit-learn, scipy and numpy; nothing of them is needed to run the model.
"""

import argparse
import hashlib
import json
import pickle
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from corpora import (
    Row,
    fold_of,
    is_judged_by_gap,
    labels_of,
    made_rows,
    may_learn_from,
    own_rows,
    read_rows,
    turns_of,
    variants_of,
)
from learning import learn_lexicon
from metrics import fit_of

from satchel.blocks.features import FLAGS, NAMES, extract
from satchel.blocks.vocabulary import Lexicon

MODEL_FILE = Path(__file__).parents[2] / "layers/common/src/satchel/blocks/continuity.json"
COLUMNS = [*NAMES, *FLAGS]
# A longer pause never speaks for going on, more common words never for a new topic.
MONOTONE = {"gap_s": 1, "overlap_1": -1, "overlap_context": -1}
TREES = 200
# Of a session made of our own topics: they are easy, and must not crowd out what people really said.
TOPICS_WEIGHT = 0.5
FOLDS = 5
INNER_FOLDS = 4
MADE = 150
UNIT = 1_000_000
PARAMETERS = {
    "objective": "binary", "num_leaves": 16, "learning_rate": 0.1, "min_child_samples": 60, "feature_fraction": 0.25,
    "bagging_fraction": 0.8, "bagging_freq": 1, "lambda_l2": 5.0, "max_bin": 31, "num_threads": 1, "seed": 7,
    "deterministic": True, "force_col_wise": True, "verbose": -1,
    "monotone_constraints": [MONOTONE.get(name, 0) for name in COLUMNS],
}  # fmt: skip
SLOPE = 1.0


def columns_of(numbers: Sequence[int], flags: int) -> list[int]:
    return [*numbers, *(flags >> bit & 1 for bit in range(len(FLAGS)))]


def learn(rows: Sequence[Row]) -> tuple[lightgbm.Booster, Lexicon]:
    """The trees and the lexicon. The trees see words weighed by lexicons that did not see their session."""
    made = list(made_rows(rows, MADE))
    lexicons = [
        learn_lexicon(
            [row for row in rows if fold_of(row, INNER_FOLDS) != fold],
            [row for row in made if fold_of(row, INNER_FOLDS) != fold],
        )
        for fold in range(INNER_FOLDS)
    ]
    everything = [*rows, *made]
    sizes = Counter(dict.fromkeys(sorted({row["corpus"] for row in everything}), 0))
    for row in everything:
        sizes[row["corpus"]] += len(row["msgs"])
    examples, targets, weights = [], [], []
    for row in everything:
        labels, variants = labels_of(row), variants_of(row)
        for variant in variants:
            seen = extract(turns_of(row, variant), lexicons[fold_of(row, INNER_FOLDS)])
            for index, (numbers, flags, _, _) in enumerate(seen):
                if index and not is_judged_by_gap(row, index, variant):
                    examples.append(columns_of(numbers, flags))
                    targets.append(labels[index])
                    share = TOPICS_WEIGHT if row["corpus"].startswith("made_topics") else 1.0
                    weights.append(share * sizes[row["corpus"]] ** -0.5 / len(variants))
    scaled = np.array(weights) / np.mean(weights)
    data = lightgbm.Dataset(np.array(examples, float), targets, weight=scaled, feature_name=COLUMNS)
    return lightgbm.train(PARAMETERS, data, TREES), learn_lexicon(rows, made)


def margins(model: lightgbm.Booster, lexicon: Lexicon, rows: Sequence[Row], variant: str) -> list[np.ndarray]:
    """The margins of every message, session by session."""
    result = []
    for row in rows:
        seen = extract(turns_of(row, variant), lexicon)
        matrix = np.array([columns_of(numbers, flags) for numbers, flags, _, _ in seen], float)
        result.append(model.predict(matrix, raw_score=True))
    return result


def held_out(rows: Sequence[Row], groups: Sequence[Callable[[Row], bool]]) -> dict[str, list[tuple[Row, np.ndarray]]]:
    """Margins of each group of rows by a model learned from the others, for the variants that matter."""
    result: dict[str, list[tuple[Row, np.ndarray]]] = defaultdict(list)
    for belongs in groups:
        tested = [row for row in rows if belongs(row)]
        model, lexicon = learn([*own_rows(), *(row for row in rows if not belongs(row) and may_learn_from(row))])
        for variant in ("", "S", "H"):
            result[variant] += zip(tested, margins(model, lexicon, tested, variant), strict=True)
    return result


def table(scored: Sequence[tuple[Row, np.ndarray]], centre: float, *, hard: bool = False) -> dict[str, Any]:
    """Fit and zone share per corpus, deciding at `centre`."""
    pairs: dict[str, list[Any]] = defaultdict(list)
    zone: dict[str, list[bool]] = defaultdict(list)
    for row, values in scored:
        judged = [hard and row["msgs"][0][0] is not None and is_judged_by_gap(row, i, "H") for i in range(len(values))]
        guess = [int(j or value > centre) for j, value in zip(judged, values, strict=True)]
        pairs[row["corpus"]].append((labels_of(row), guess))
        zone[row["corpus"]] += [
            not j and -0.530 < SLOPE * (value - centre) < 0.655 for j, value in zip(judged, values, strict=True)
        ][1:]
    return {
        corpus: {**{name: round(value, 3) for name, value in fit_of(each)._asdict().items()},
                 "zone_share": round(float(np.mean(zone[corpus])), 3)}
        for corpus, each in pairs.items()
    }  # fmt: skip


def best_centre(scored: Sequence[tuple[Row, np.ndarray]], *, hard: bool) -> float:
    """Where the mean over corpora of F1 less Pk is highest."""

    def quality(centre: float) -> float:
        fits = table(scored, centre, hard=hard).values()
        return sum(fit["f1"] - fit["pk"] for fit in fits) / len(fits)

    return max((round(float(centre), 2) for centre in np.arange(-1.5, 1.01, 0.05)), key=quality)


def show(name: str, fits: dict[str, Any]) -> None:
    f1 = np.mean([fit["f1"] for fit in fits.values()])
    pk = np.mean([fit["pk"] for fit in fits.values()])
    print(f"\n{name}: mean F1 {f1:.3f}, mean Pk {pk:.3f}")
    for corpus, fit in fits.items():
        print(f"  {corpus:16} F1 {fit['f1']:.3f}  Pk {fit['pk']:.3f}  WD {fit['wd']:.3f}  zone {fit['zone_share']:.1%}")


def tree_of(node: dict[str, Any]) -> Any:
    """A tree as `satchel.blocks.continuity` reads it, with whole thresholds and whole leaf values."""
    if "leaf_value" in node:
        return round(node["leaf_value"] * UNIT)
    threshold = int(np.floor(node["threshold"]))
    return [COLUMNS[node["split_feature"]], threshold, tree_of(node["left_child"]), tree_of(node["right_child"])]


def document(
    model: lightgbm.Booster, lexicon: Lexicon, centres: dict[str, float], source: Path, rows: Sequence[Row]
) -> dict[str, Any]:
    counts = Counter(row["corpus"] for row in rows)
    licences = {row["corpus"]: row["licence"] for row in rows}
    return {
        "about": {
            "made_by": "benchmarks/blocks/train.py",
            "data_sha256": hashlib.sha256(source.read_bytes()).hexdigest(),
            "sessions": {corpus: {"count": counts[corpus], "licence": licences[corpus]} for corpus in sorted(counts)},
            "lightgbm": lightgbm.__version__,
            "trees": TREES,
        },
        "calibration": {mode: {"centre": centre, "slope": SLOPE} for mode, centre in centres.items()},
        "weight": lexicon.weight, "opens": lexicon.opens, "closes": lexicon.closes, "topic": lexicon.topic,
        "trees": [tree_of(each["tree_structure"]) for each in model.dump_model()["tree_info"]],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--leave-one-out", action="store_true")
    parser.add_argument("--write", action="store_true", help=f"write {MODEL_FILE.name}")
    parser.add_argument("--margins", type=Path, help="keep the held-out margins here, to try calibrations")
    arguments = parser.parse_args()
    rows = read_rows(arguments.data)
    scored = held_out(rows, [lambda row, fold=fold: fold_of(row, FOLDS) == fold for fold in range(FOLDS)])
    centres = {"soft": best_centre(scored[""], hard=False), "hard": best_centre(scored["H"], hard=True)}
    print("centres", centres)
    show("soft", table(scored[""], centres["soft"]))
    show("soft, no speakers", table(scored["S"], centres["soft"]))
    show("hard, 10 minutes", table(scored["H"], centres["hard"], hard=True))
    if arguments.leave_one_out:
        corpora = sorted({row["corpus"] for row in rows})
        unseen = held_out(rows, [lambda row, corpus=corpus: row["corpus"] == corpus for corpus in corpora])
        show("soft, corpus never seen", table(unseen[""], centres["soft"]))
    if arguments.margins:
        arguments.margins.write_bytes(pickle.dumps(dict(scored)))
    if arguments.write:
        learned = [*own_rows(), *(row for row in rows if may_learn_from(row))]
        content = document(*learn(learned), centres, arguments.data, learned)
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        MODEL_FILE.write_text(text + "\n", encoding="utf-8")
        print(MODEL_FILE, len(text) // 1000, "kB")


if __name__ == "__main__":
    main()
