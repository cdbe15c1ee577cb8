"""Pseudo-relevance feedback: words that the best items share lift the candidates that use them too.

Pure. In the manner of Rocchio and RM3 (Lavrenko and Croft, 2001), kept cheap: words are not stemmed but cut to a
prefix, looked for in the best candidates only, and never lift an item that no term of the question reaches.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from heapq import nlargest

from satchel.filtering import words
from satchel.filtering.lexical import Corpus
from satchel.filtering.terms import Term

SEEDS = 6
SEED_SHARE = 0.5
SEED_CHARS = 500
CANDIDATES = 40
CANDIDATE_CHARS = 1_500
TERMS = 8
WEIGHT = 0.35
PREFIX_CHARS = 6
_MIN_CHARS = 3
MIN_MATCHING = 3


def rerank(laid: Corpus, scores: Sequence[float], wanted: Sequence[Term]) -> list[float]:
    """The scores with what feedback adds; unchanged where fewer than three items match."""
    lifted = list(scores)
    matching = [i for i in nlargest(CANDIDATES, range(len(scores)), key=lambda i: (scores[i], -i)) if scores[i] > 0]
    if len(matching) < MIN_MATCHING:
        return lifted
    best = scores[matching[0]]
    starts = laid.item_starts
    known = {term.stem[:PREFIX_CHARS] for term in wanted}
    weights: defaultdict[str, float] = defaultdict(float)
    for i in matching[:SEEDS]:
        share = scores[i] / best
        if share < SEED_SHARE:
            break
        text = laid.lower[starts[i] : min(starts[i + 1], starts[i] + SEED_CHARS)]
        for word in {
            word[:PREFIX_CHARS]
            for word in words.WORD.findall(text)
            if len(word) >= _MIN_CHARS and word not in words.FUNCTION_WORDS and not word.isdigit()
        }:
            weights[word] += share
    texts = [laid.lower[starts[i] : min(starts[i + 1], starts[i] + CANDIDATE_CHARS)] for i in matching]
    shared = [(w, word) for word, w in weights.items() if w > 1.0 and word not in known]
    heaviest = sorted(shared, key=lambda pair: (-pair[0], pair[1]))[: 2 * TERMS]
    gains: list[tuple[float, str, list[int]]] = []
    for weight, word in heaviest:
        holders = [place for place, text in enumerate(texts) if word in text]
        gains.append((weight * math.log((len(texts) + 1) / (len(holders) + 0.5)), word, holders))
    gains.sort(key=lambda gain: (-gain[0], gain[1]))
    gains = [gain for gain in gains[:TERMS] if gain[0] > 0]
    if not gains:
        return lifted
    unit = WEIGHT * best / sum(gain for gain, _, _ in gains)
    for gain, _, holders in gains:
        for place in holders:
            lifted[matching[place]] += unit * gain
    return lifted
