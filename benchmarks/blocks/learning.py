"""What is learned about words: how common a term is, which phrases open or close a topic, which terms go together."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from corpora import Row, labels_of
from scipy.sparse import csr_matrix
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from satchel.blocks.text import read
from satchel.blocks.topics import TOPIC_DIMENSIONS
from satchel.blocks.vocabulary import DEFAULT_WEIGHT, Lexicon, phrases

_COMMON = 8
_PHRASE_SESSIONS = 8
_TOPIC_TERMS = 100
_TOPIC_USES = 8
_TOPIC_SHARE = 0.06
_TOPIC_SCALE = 50
_TOPIC_WINDOW = 6
_LEAST_COEFFICIENT = 0.03


def learn_words(rows: Sequence[Row]) -> dict[str, int]:
    """Weights of common terms by document frequency per language; every other term weighs `DEFAULT_WEIGHT`."""
    uses: dict[str, Counter[str]] = defaultdict(Counter)
    messages: Counter[str] = Counter()
    for row in rows:
        for message in row["msgs"]:
            uses[row["lang"]].update(read(message[3]).terms)
            messages[row["lang"]] += 1
    weights = {}
    for lang, counts in sorted(uses.items()):
        for term, count in sorted(counts.items()):
            weight = max(1, min(DEFAULT_WEIGHT, round(2 * math.log(messages[lang] / count) - 3)))
            if count >= _COMMON and weight < DEFAULT_WEIGHT:
                weights[term] = weight
    return weights


def learn_phrases(rows: Sequence[Row]) -> tuple[dict[str, int], dict[str, int]]:
    """L1 logistic regression from the phrases of a message and of the one before it to a boundary.

    Only phrases of at least two corpora, so that no corpus' topics are learned; weights in hundredths.
    """
    seen: Counter[str] = Counter()
    corpora: dict[str, set[str]] = defaultdict(set)
    sizes: Counter[str] = Counter()
    for row in rows:
        sizes[row["corpus"]] += len(row["msgs"])
        for message in row["msgs"]:
            for phrase in set(phrases(read(message[3]).words)):
                seen[phrase] += 1
                corpora[phrase].add(row["corpus"])
    kept = [phrase for phrase in sorted(seen) if seen[phrase] >= _PHRASE_SESSIONS and len(corpora[phrase]) > 1]
    column = {phrase: index for index, phrase in enumerate(kept)}
    many = len(kept)
    rows_at, columns, targets, weights = [], [], [], []
    for row in rows:
        labels = labels_of(row)
        before: list[str] = []
        for index, message in enumerate(row["msgs"]):
            words = read(message[3]).words
            if index:
                used = [column[phrase] for phrase in sorted(set(phrases(words))) if phrase in column]
                used += [many + column[phrase] for phrase in sorted(set(phrases(before))) if phrase in column]
                used.append(2 * many + {"user": 0, "assistant": 1}.get(message[2], 2))
                rows_at += [len(targets)] * len(used)
                columns += used
                targets.append(labels[index])
                weights.append(sizes[row["corpus"]] ** -0.5)
            before = words
    matrix = csr_matrix((np.ones(len(columns)), (rows_at, columns)), shape=(len(targets), 2 * many + 3))
    scaled = np.array(weights) / np.mean(weights)
    model = LogisticRegression(C=0.3, solver="liblinear", l1_ratio=1.0, max_iter=200, random_state=0)
    coefficients = model.fit(matrix, targets, sample_weight=scaled).coef_[0]

    def table(offset: int) -> dict[str, int]:
        found = {phrase: float(coefficients[offset + index]) for phrase, index in column.items()}
        return {phrase: round(100 * value) for phrase, value in found.items() if abs(value) > _LEAST_COEFFICIENT}

    return table(0), table(many)


def learn_topics(rows: Sequence[Row]) -> dict[str, list[int]]:
    """Vectors of terms that occur together: a decomposition of their positive mutual information per language."""
    topics: dict[str, list[int]] = {}
    for lang in ("en", "ko"):
        documents = list(_documents([row for row in rows if row["lang"] == lang]))
        uses = Counter(term for document in documents for term in document)
        kept = [term for term in sorted(uses) if _TOPIC_USES <= uses[term] <= _TOPIC_SHARE * len(documents)]
        if len(kept) < _TOPIC_TERMS:
            continue
        column = {term: index for index, term in enumerate(kept)}
        places = [(i, column[term]) for i, each in enumerate(documents) for term in sorted(each) if term in column]
        shape = (len(documents), len(kept))
        matrix = csr_matrix((np.ones(len(places)), tuple(zip(*places, strict=True))), shape=shape)
        together = (matrix.T @ matrix).toarray()
        np.fill_diagonal(together, 0)
        sums = together.sum(1, keepdims=True) + 1e-9
        information = np.log((together * together.sum() + 1e-9) / (sums @ sums.T) + 1e-12)
        information = np.where(together > 0, np.maximum(0, information), 0)
        vectors = normalize(TruncatedSVD(TOPIC_DIMENSIONS, random_state=0).fit_transform(information))
        for term, vector in zip(kept, vectors, strict=True):
            topics[term] = [round(_TOPIC_SCALE * float(value)) for value in vector]
    return topics


def _documents(rows: Sequence[Row]) -> Iterator[set[str]]:
    """Sets of terms that are about one thing: runs of six messages between boundaries."""
    for row in rows:
        terms = [set(read(message[3]).terms) for message in row["msgs"]]
        edges = [0, *row["boundaries"], len(terms)]
        for start, end in pairwise(edges):
            for first in range(start, end, _TOPIC_WINDOW - 2):
                together = set().union(*terms[first : min(end, first + _TOPIC_WINDOW)])
                if len(together) > 2:
                    yield together


def learn_lexicon(rows: Sequence[Row], extra: Sequence[Row]) -> Lexicon:
    """Everything about words; `extra` are made sessions, which teach phrases and nothing else."""
    opens, closes = learn_phrases([*rows, *extra])
    return Lexicon(learn_words(rows), opens, closes, learn_topics(rows))
