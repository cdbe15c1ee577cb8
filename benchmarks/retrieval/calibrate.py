"""Fits what a score means as a probability, and prints the numbers of `satchel.memory.weights.Calibration`.

usage: calibrate.py FILE.jsonl[:q_ko]... [--models DIR]

For each question its best candidates with their labels, and for each conversation questions of other ones, which
nothing answers there. Only feed it data whose licence lets the result be shipped. Every file weighs the same. Logistic
regression with an L2 penalty and no negative weight, since more evidence never makes an answer less probable.
"""

import argparse
import os
from pathlib import Path

# As in template.yaml: on a core of its own, a second thread of the matrix library only waits.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import product
from run import MODELS, foreign_questions

from satchel.embeddings.e5 import E5Encoder
from satchel.memory import ranking
from satchel.memory.candidates import Filters
from satchel.memory.search import find
from satchel.memory.search_store import SearchStore
from satchel.memory.terms import normalize

BEST = 5
PENALTY = 1e-3
NAMES = ("intercept", "rank", "meaning", "coverage", "likeness", "margin")


def rows_of(path, field, encoder):
    """Inputs and labels of the best candidates of every question, asked where it belongs and where it does not."""
    inputs, labels, tops = [], [], []
    conversations = product.read_conversations(path)
    evidence_seen = []
    original = ranking.query_evidence

    def listening(features, ranks):
        evidence_seen.append(original(features, ranks))
        return evidence_seen[-1]

    ranking.query_evidence = listening
    with product.running_database() as (database, _dsn):
        for number, conversation in enumerate(conversations):
            now = product.save_conversation(database, conversation, encoder)
            store = SearchStore(database, conversation["conversation_id"])
            corpus, newest = store.corpus(Filters())
            own = [(question, True) for question in product.questions_of(conversation, field)]
            foreign = [(question, False) for question in foreign_questions(conversations, number, field)]
            for question, belongs in own + foreign:
                ranked = find(
                    store, encoder, normalize(question.text), now=now, filters=Filters(as_of=newest), corpus=corpus
                )
                seen = evidence_seen[-1]
                for place, hit in enumerate(ranked[:BEST]):
                    rank = sum(hit.contributions.values())
                    inputs.append([1.0, rank, seen.meaning, seen.coverage, seen.likeness, seen.margin])
                    labels.append(float(belongs and hit.message.message_id in question.evidence))
                    tops.append((place == 0, belongs))
    ranking.query_evidence = original
    return np.array(inputs), np.array(labels), tops


def fit(inputs, labels, shares):
    """Projected gradient descent on standardised inputs; all weights but the intercept stay at or above zero."""
    centre, scale = inputs.mean(axis=0), inputs.std(axis=0)
    centre[0], scale[0] = 0.0, 1.0
    scaled = (inputs - centre) / np.where(scale > 0, scale, 1)
    weights = np.zeros(inputs.shape[1])
    for _ in range(20_000):
        slope = scaled.T @ (shares * (1 / (1 + np.exp(-scaled @ weights)) - labels)) + PENALTY * weights
        weights -= 0.5 * slope
        weights[1:] = np.maximum(weights[1:], 0)
    plain = weights / np.where(scale > 0, scale, 1)
    plain[0] -= (plain[1:] * centre[1:]).sum()
    return plain


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", help="FILE.jsonl or FILE.jsonl:QUERY_FIELD")
    parser.add_argument("--models", type=Path, default=MODELS)
    given = parser.parse_args()
    encoder = E5Encoder(given.models / "e5-small")
    inputs, labels, shares, tops = [], [], [], []
    for file in given.files:
        path, _, field = file.partition(":")
        found, stated, places = rows_of(Path(path), field or "q", encoder)
        inputs.append(found)
        labels.append(stated)
        shares.append(np.full(len(stated), 1 / len(stated) / len(given.files)))
        tops += places
    inputs, labels, shares = np.concatenate(inputs), np.concatenate(labels), np.concatenate(shares)
    weights = fit(inputs, labels, shares)
    for name, weight in zip(NAMES, weights, strict=True):
        print(f"    {name}: float = {weight:.3g}")
    odds = inputs @ weights
    own = [value for value, (top, belongs) in zip(odds, tops, strict=True) if top and belongs]
    foreign = [value for value, (top, belongs) in zip(odds, tops, strict=True) if top and not belongs]
    floor = np.log(0.2 / 0.8)
    print(f"best hit at or above 0.2: {np.mean(np.array(own) >= floor):.1%} where answered, ", end="")
    print(f"{np.mean(np.array(foreign) >= floor):.1%} where not; ", end="")
    print(f"rejected at 89 %: {np.mean(np.array(foreign) < np.quantile(own, 0.11)):.1%}")


if __name__ == "__main__":
    main()
