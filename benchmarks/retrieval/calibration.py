"""What a score is worth in small and large histories and across languages; and the fit that it comes from.

usage: calibration.py [FILE.jsonl[:query_field] ...] [--fit] [--encoder minilm] [--models DIR]

Asks questions in histories of 1, 5, 20 and 100 messages, through the product's own ranking. Each question is asked once
where its answer is in the history and once where it is not:

- facts: our own `facts.tsv`, in all nine pairs of a question's and a history's language among English, Korean and
  Chinese. The history is of other facts, so that what is not answered is certain.
- keywords: one telling word of a fact, in English and Korean.
- FILE: windows of labelled conversations; the answer is missing in windows of the same conversation away from it
  (`own`) and in those of other conversations (`foreign`). Some of these have an answer all the same.

`kept`: share of answered questions with a best hit at or above 0.2; `rejected`: share of the unanswered without one.
`--fit` prints the numbers of `weights.Calibration`: logistic regression on the best hit of each question,
folded by fact and by conversation; the table then shows each fold under the fit of the others. Questions with an answer
count half as much again, as if three in five had one. Only feed it what may be shipped from: shipped is the fit to the
facts, the MemoryBank dialogues (MIT) and one Korean dialogue of our own. Last line: JSON.
"""

import argparse
import json
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import product
from in_memory import Kept, Reader
from numpy.typing import NDArray
from run import MODELS

from satchel.memory.features import read_features
from satchel.memory.hits import DEFAULT_MIN_SCORE
from satchel.memory.messages import Message
from satchel.memory.ranking import evidence_of, order_of, ranks_of
from satchel.memory.weights import CALIBRATION
from satchel.timestamps import parse_timestamp

SIZES = (1, 5, 20, 100)
LANGUAGES = ("en", "ko", "zh")
FOLDS = 4
ANSWERED_WEIGHT = 1.5
AWAY = 3
"""Messages beside an answer that a window without it keeps away from."""
BEGIN = datetime(2026, 3, 1, 9, tzinfo=UTC)
FACTS = Path(__file__).parent / "facts.tsv"


@dataclass(frozen=True)
class Case:
    """A question asked in one history.

    Attributes:
        kind: `facts`, `keywords`, `own` (answered, and unanswered beside it) or `foreign`.
        pair: Languages of question and history.
        evidence: What speaks for its best hit, in the order of `NAMES`.
    """

    kind: str
    pair: str
    size: int
    fold: int
    answered: bool
    evidence: NDArray[np.float64]


# No question here asks for days and nothing else: what those are worth is set by hand.
NAMES = [field.name for field in fields(CALIBRATION) if field.name != "days_alone"]
assert NAMES[0] == "intercept"


def case(reader: Reader, history: Sequence[Kept], query: str, **about: Any) -> Case:
    now = max(one.message.created_at for one in history) + timedelta(days=1)
    asked = reader.ask(history, query, now=now)
    seqs = sorted(asked.candidates.ranked)
    messages = [asked.candidates.by_seq[seq].message for seq in seqs]
    features = read_features(asked.candidates, seqs, asked.encoding, asked.intent, reader.encoder.background)
    best = order_of(ranks_of(features, messages, asked.intent)[0], messages)[0]
    columns = evidence_of(features, asked.intent, corpus=len(history))
    evidence = np.array([1.0, *(columns[name][best] for name in NAMES[1:])])
    return Case(**about, size=len(history), evidence=evidence)


def fact_cases(reader: Reader) -> Iterator[Case]:
    draw = random.Random(1)
    facts = [line.split("\t") for line in FACTS.read_text(encoding="utf-8").splitlines()]
    kept = {
        (at, language): reader.keep(said(str(at), at, fact[2 * column]))
        for at, fact in enumerate(facts)
        for column, language in enumerate(LANGUAGES)
    }
    for at, fact in enumerate(facts):
        others = [other for other in range(len(facts)) if other != at]
        for history_language in LANGUAGES:
            queries = [("facts", language, fact[2 * column + 1]) for column, language in enumerate(LANGUAGES)]
            if history_language != "zh":
                queries.append(("keywords", history_language, keyword(kept[at, history_language].message.content)))
            for kind, language, query in queries:
                for size in SIZES:
                    beside = draw.sample(others, min(size, len(others)))
                    about = {"kind": kind, "pair": f"{language}>{history_language}", "fold": at % FOLDS}
                    for answered in (True, False):
                        members = sorted([at, *beside[1:]] if answered else beside)
                        history = [kept[member, history_language] for member in members]
                        yield case(reader, history, query, answered=answered, **about)


def said(message_id: str, seq: int, content: str) -> Message:
    """A message of the user, a minute after the one before."""
    return Message("s", message_id, seq, "user", content, {}, BEGIN + timedelta(minutes=seq), timestamp_given=True)


def keyword(content: str) -> str:
    """The longest word of a text; of a Korean one without its last syllable, mostly a particle."""
    word = max("".join(sign if sign.isalnum() else " " for sign in content).split(), key=len)
    return word if word.isascii() or len(word) < 3 else word[:-1]


def file_cases(reader: Reader, path: Path, field: str) -> Iterator[Case]:
    draw = random.Random(2)
    conversations = product.read_conversations(path)
    histories = [[reader.keep(message) for message in messages_of(one)] for one in conversations]
    text_language = "ko" if "ko" in path.stem.split("_") else path.stem.split("_")[1]
    language = "ko" if field.endswith("ko") else text_language
    for number, (conversation, history) in enumerate(zip(conversations, histories, strict=True)):
        ids = [one.message.message_id for one in history]
        for question in product.questions_of(conversation, field):
            places = [place for place, message_id in enumerate(ids) if message_id in question.evidence]
            for size in SIZES:
                about = {"pair": f"{language}>{text_language}", "fold": number % FOLDS}
                start = max(0, min(draw.choice(places) - draw.randrange(size), len(ids) - size))
                window = history[start : start + size]
                yield case(reader, window, question.text, kind="own", answered=True, **about)
                away = [
                    start
                    for start in range(len(ids) - size + 1)
                    if all(not start - AWAY <= place < start + size + AWAY for place in places)
                ]
                if away:
                    start = draw.choice(away)
                    window = history[start : start + size]
                    yield case(reader, window, question.text, kind="own", answered=False, **about)
                if len(histories) > 1:
                    other = draw.choice([one for at, one in enumerate(histories) if at != number])
                    start = draw.randrange(max(1, len(other) - size + 1))
                    window = other[start : start + size]
                    yield case(reader, window, question.text, kind="foreign", answered=False, **about)


def messages_of(conversation: dict[str, Any]) -> list[Message]:
    return [
        Message(
            session_id=product.session_of(one["id"]),
            message_id=one["id"],
            seq=at,
            role=one["role"],
            content=one["content"],
            metadata={"speaker": one["speaker"]} if one.get("speaker") else {},
            created_at=parse_timestamp(one["timestamp"], field="timestamp"),
            timestamp_given=True,
        )
        for at, one in enumerate(conversation["messages"], 1)
    ]


def fit(cases: Sequence[Case]) -> NDArray[np.float64]:
    """Logistic regression by Newton's method, each column at its own scale, with a slight pull to 0."""
    rows = np.array([one.evidence for one in cases])
    right = np.array([float(one.answered) for one in cases])
    count = np.where(right, ANSWERED_WEIGHT, 1.0)
    pull = rows.var(axis=0)
    weights = np.zeros(len(NAMES))
    for _ in range(30):
        chance = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (count * (chance - right)) + pull * weights
        curve = (rows * (count * chance * (1 - chance))[:, np.newaxis]).T @ rows + np.diag(pull + 1e-6)
        # Half steps: whole ones may overshoot where a column is nearly constant.
        weights -= np.linalg.solve(curve, slope) / 2
    return weights


def table(cases: Sequence[Case], scores: Sequence[float]) -> dict[str, dict[str, list[float]]]:
    result: dict[str, dict[str, list[float]]] = {}
    for kind in ("facts", "keywords", "own", "foreign"):
        for pair in sorted({one.pair for one in cases if one.kind == kind}):
            cells: dict[str, list[float]] = {}
            for size in SIZES:
                kept, rejected = [], []
                for one, score in zip(cases, scores, strict=True):
                    if (one.kind, one.pair) == (kind, pair) and nearest_size(one.size) == size:
                        (kept if one.answered else rejected).append(
                            score >= DEFAULT_MIN_SCORE if one.answered else score < DEFAULT_MIN_SCORE
                        )
                cells[str(size)] = [round(float(np.mean(part)), 3) if part else -1.0 for part in (kept, rejected)]
            result[f"{kind} {pair}"] = cells
    return result


def nearest_size(size: int) -> int:
    return min(SIZES, key=lambda one: abs(np.log(one / size)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--encoder", choices=product.ENCODERS, default="e5-small")
    parser.add_argument("--models", type=Path, default=MODELS)
    given = parser.parse_args()
    reader = Reader(product.ENCODERS[given.encoder](given.models / given.encoder))
    cases = list(fact_cases(reader))
    for named in given.files:
        path, _, field = named.partition(":")
        cases += file_cases(reader, Path(path), field or "q")
    weights = [np.array([getattr(CALIBRATION, name) for name in NAMES])] * FOLDS
    if given.fit:
        weights = [fit([one for one in cases if one.fold != fold]) for fold in range(FOLDS)]
        fitted = dict(zip(NAMES, fit(cases).round(2).tolist(), strict=True))
        print(replace(CALIBRATION, **fitted))
    scores = [float(1 / (1 + np.exp(-one.evidence @ weights[one.fold]))) for one in cases]
    result = table(cases, scores)
    print(f"{'kept / rejected':20s}" + "".join(f"{size:>14d}" for size in SIZES))
    for name, cells in result.items():
        row = ["    -" if cell < 0 else f"{cell:.3f}" for size in SIZES for cell in cells[str(size)]]
        print(f"{name:20s}" + "".join(f"{a:>8s}/{b}" for a, b in zip(row[::2], row[1::2], strict=True)))
    for kept in (True, False):
        hit = [score >= DEFAULT_MIN_SCORE for one, score in zip(cases, scores, strict=True) if one.answered == kept]
        print("kept" if kept else "found nothing", round(np.mean(hit) if kept else 1 - np.mean(hit), 4))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
