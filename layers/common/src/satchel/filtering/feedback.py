"""Pseudo-relevance feedback: words that the best items share lift the candidates that use them too.

Pure. In the manner of Rocchio and RM3 (Lavrenko and Croft, 2001), kept cheap: words are not stemmed but cut to a
prefix, looked for in the best candidates only, and never lift an item that no term of the question reaches.
"""

import math
from bisect import bisect_right
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
FILL_TERMS = 24
# A word that more than this share of the items use says nothing.
RARE_SHARE = 8


def rerank(laid: Corpus, scores: Sequence[float], wanted: Sequence[Term]) -> list[float]:
    """The scores with what feedback adds; unchanged where fewer than three items match."""
    lifted = list(scores)
    reached = [i for i, score in enumerate(scores) if score > 0]
    matching = nlargest(CANDIDATES, reached, key=scores.__getitem__)  # ties in the array's order
    if len(matching) < MIN_MATCHING:
        return lifted
    best = scores[matching[0]]
    starts = laid.item_starts
    known = {term.stem[:PREFIX_CHARS] for term in wanted}
    weights = _shares(laid, scores, matching[:SEEDS])
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


def fill(laid: Corpus, scores: Sequence[float], wanted: Sequence[Term], places: int) -> list[float]:
    """The scores with small ones for items that share words with the best, where fewer than `places` items match.

    They stay below every item that a term of the question reaches, and no more than `places` items have a score.
    """
    filled = list(scores)
    matching = [i for i, score in enumerate(scores) if score > 0]
    if not 0 < len(matching) < places:
        return filled
    known = {term.stem[:PREFIX_CHARS] for term in wanted}
    gains: defaultdict[int, float] = defaultdict(float)
    shares = _shares(laid, scores, nlargest(SEEDS, matching, key=scores.__getitem__))
    new = [word for word in shares if word not in known]
    for word in sorted(new, key=lambda word: (-shares[word], -len(word), word))[:FILL_TERMS]:
        holders, weight = _holders(laid, word), shares[word]
        if len(holders) * RARE_SHARE <= len(scores):
            for i in holders:
                gains[i] += weight * math.log((len(scores) + 1) / (len(holders) + 0.5))
    least = min(scores[i] for i in matching)
    others = [i for i in sorted(gains) if scores[i] <= 0]
    chosen = nlargest(places - len(matching), others, key=gains.__getitem__)
    for i in chosen:
        filled[i] = 0.5 * least * gains[i] / gains[chosen[0]]
    return filled


def _shares(laid: Corpus, scores: Sequence[float], seeds: Sequence[int]) -> dict[str, float]:
    """Weight of each word, cut to a prefix, by the scores of the seeds that use it; the best seed comes first."""
    weights: defaultdict[str, float] = defaultdict(float)
    starts = laid.item_starts
    for i in seeds:
        share = scores[i] / scores[seeds[0]]
        if share < SEED_SHARE:
            break
        text = laid.lower[starts[i] : min(starts[i + 1], starts[i] + SEED_CHARS)]
        for word in {
            word[:PREFIX_CHARS]
            for word in words.WORD.findall(text)
            if len(word) >= _MIN_CHARS and word not in words.FUNCTION_WORDS and not word.isdigit()
        }:
            weights[word] += share
    return weights


def _holders(laid: Corpus, prefix: str) -> set[int]:
    """The items in which a word starts with `prefix`."""
    found: set[int] = set()
    at = laid.lower.find(prefix)
    while at >= 0:
        i = bisect_right(laid.item_starts, at) - 1
        if not laid.lower[at - 1].isalnum():
            found.add(i)
        at = laid.lower.find(prefix, at + 1)
    return found
