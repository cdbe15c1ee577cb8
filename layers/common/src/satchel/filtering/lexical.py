"""BM25 over an array itself, counting only the terms that were asked for.

Pure. The array's strings are laid end to end and each term is searched with `str.find`; what a tokeniser would do for
every word is done for the few words that can match. Measured at a tenth of the time of tokenising everything.

Source of the formula: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
with the non-negative inverse document frequency of Lucene.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise, repeat
from operator import add, methodcaller, sub
from typing import Any, cast

from satchel.filtering import words
from satchel.filtering.json_values import is_array, is_object
from satchel.filtering.terms import Term

K1 = 1.2
B = 0.5


@dataclass(slots=True)
class Corpus:
    """The strings of an array, laid end to end.

    Attributes:
        text: All strings, normalised, a line feed before each.
        lower: The same in lower case, of the same length.
        starts: Where each string starts in `text`.
        owners: Index of the item that each string belongs to.
        weights: Weight of each string's field.
        item_starts: Where each item starts in `text`, and one past the end.
    """

    text: str
    lower: str
    starts: list[int]
    owners: list[int]
    weights: list[float]
    item_starts: list[int]


MAX_DEPTH = 60
_VALUES = methodcaller("values")
_WORDLESS = frozenset({bool, type(None)})
_CONTAINERS = frozenset({dict, list, tuple})


def _walk(value: Any, key: str, strings: list[str], keys: list[str], depth: int) -> None:
    if type(value) is str:
        strings.append(value)
        keys.append(key)
    elif value is None or value is True or value is False:
        return
    elif is_object(value):
        if depth:
            for name, inner in value.items():
                _walk(inner, name, strings, keys, depth - 1)
    elif is_array(value):
        if depth:
            for inner in value:
                _walk(inner, key, strings, keys, depth - 1)
    else:
        strings.append(str(value))
        keys.append(key)


def corpus(items: Sequence[Any], field_weight: Callable[[str], float], *, ascii_only: bool = False) -> Corpus:
    """Lays out an array for scanning; names of fields are not part of it.

    Args:
        items: JSON values; what lies deeper than 60 levels is not looked at.
        field_weight: Weight of a field's text, by the field's name (empty for an item that is no object).
        ascii_only: True where every term is ASCII: other characters are blotted out, which makes the scan faster.
    """
    strings, weights, firsts = _uniform(items, field_weight) or _various(items, field_weight)
    try:
        text = "\n" + "\n".join(strings)
    except TypeError:  # not all are texts: found out here, since nearly always they are
        strings = list(map(_text if _WORDLESS & set(map(type, strings)) else str, strings))
        text = "\n" + "\n".join(strings)
    if not text.isascii():
        fold = words.to_ascii if ascii_only else words.normalise
        for index in _places_of(list(map(str.isascii, strings))):
            strings[index] = fold(strings[index])
        text = "\n" + "\n".join(strings)
    lower = text.lower()
    if len(lower) != len(text):  # a letter whose lower case is longer: give up telling camel case apart
        text = lower
        if len(strings) > 1:
            strings = [string.lower() for string in strings]
    starts = list(accumulate(map(add, map(len, strings), repeat(1)), initial=1))
    item_starts = list(map(starts.__getitem__, firsts))
    item_starts.append(len(text) + 1)
    owners = list(chain.from_iterable(map(repeat, range(len(items)), map(sub, (*firsts[1:], len(strings)), firsts))))
    return Corpus(text, lower, starts[:-1], owners, weights, item_starts)


def _places_of(flags: list[bool]) -> Iterator[int]:
    """Where the flags are False, without looking at each of the others in Python."""
    at = -1
    while True:
        try:
            at = flags.index(False, at + 1)
        except ValueError:
            return
        yield at


def _uniform(
    items: Sequence[Any], field_weight: Callable[[str], float]
) -> tuple[list[str], list[float], Sequence[int]] | None:
    """Strings, their weights, and each item's first, where all items are flat objects with the same fields; else None.

    What most arrays are, at a fifth of the time of walking each item. What is no text is left to be made one.
    """
    if not items or {each.__class__ for each in items} != {dict}:
        return None
    rows = cast("Sequence[dict[str, Any]]", items)
    names = tuple(rows[0])
    if not names or set(map(tuple, rows)) != {names}:
        return None
    width = len(names)
    strings: list[Any] = list(chain.from_iterable(map(_VALUES, rows)))
    if not _CONTAINERS.isdisjoint(map(type, strings)):
        return None
    return strings, list(map(field_weight, names)) * len(items), range(0, width * len(items), width)


def _text(value: Any) -> str:
    return "" if type(value) in _WORDLESS else str(value)


def _various(
    items: Sequence[Any], field_weight: Callable[[str], float]
) -> tuple[list[str], list[float], Sequence[int]]:
    """The same of any items."""
    strings: list[str] = []
    keys: list[str] = []
    firsts: list[int] = []
    for item in items:
        firsts.append(len(strings))
        if item.__class__ is dict:  # what `is_object` says, without the call: this loop is a hot one
            for key, value in item.items():
                if type(value) is str:
                    strings.append(value)
                    keys.append(key)
                elif value is not None and value is not True and value is not False:
                    _walk(value, key, strings, keys, MAX_DEPTH)
        else:
            _walk(item, "", strings, keys, MAX_DEPTH)
    weight_of = {key: field_weight(key) for key in dict.fromkeys(keys)}
    return strings, list(map(weight_of.__getitem__, keys)), firsts


@dataclass(slots=True)
class Scan:
    """Where the terms are.

    Attributes:
        frequencies: For each term, in order, item index -> weighted count of its words.
        touched: Items that contain a keyword's characters, be it inside a longer word.
    """

    frequencies: list[dict[int, float]]
    touched: set[int] = field(default_factory=set[int])


def scan(laid: Corpus, terms: Iterable[Term], phrases: Iterable[str] = ()) -> Scan:  # noqa: C901 - one loop, flat for speed
    """Finds each term's words in the corpus: at word starts and at the humps of camel case; phrases as they stand."""
    result = Scan([])
    for phrase in phrases:
        at = laid.lower.find(phrase)
        while at >= 0:
            result.touched.add(laid.owners[bisect_right(laid.starts, at) - 1])
            at = laid.lower.find(phrase, at + len(phrase))
    text, lower, starts, owners, weights = laid.text, laid.lower, laid.starts, laid.owners, laid.weights
    # A term starts with a letter or a digit, so there is a word where it was found.
    word_at = cast("Callable[[str, int], Sequence[str]]", words.WORD.match)
    stem = words.stem
    for term in terms:
        prefix, wanted, step = term.prefix, term.stem, len(term.prefix)
        keyword, anywhere, glued = term.keyword, term.anywhere, term.glued
        frequency: dict[int, float] = {}
        verdicts: dict[str, bool] = {}
        for at in _places(lower, prefix):
            before = text[at - 1]
            if anywhere:
                good = True
            elif before.isalnum():
                here = text[at]
                good = (
                    not here.islower()
                    and (before.isdigit() != here.isdigit() or before.islower() or text[at + 1 : at + 2].islower())
                    and _is_part(text, at, wanted)
                )
            else:
                after = lower[at + step : at + step + 1]
                word = word_at(lower, at)[0] if after.isalnum() else prefix
                if word in verdicts:
                    verdict = verdicts[word]
                else:
                    verdict = verdicts[word] = glued or word == wanted or stem(word) == wanted
                good = verdict or (len(word) > step and _is_part(text, at, wanted))
            if good:
                segment = bisect_right(starts, at) - 1
                owner = owners[segment]
                frequency[owner] = frequency.get(owner, 0.0) + weights[segment]
            elif keyword is not None and lower.startswith(keyword, at):
                result.touched.add(owners[bisect_right(starts, at) - 1])
        if keyword is not None:
            result.touched.update(frequency)
        result.frequencies.append(frequency)
    return result


def _places(lower: str, prefix: str) -> list[int]:
    """Where `prefix` stands; a single ASCII character only at the start of a word after a space or of a string.

    A digit or a letter is in every other word, and nearly all of those places would be looked at in vain.
    """
    single = len(prefix) == 1 and prefix.isascii()
    found: list[int] = []
    for needle in (f" {prefix}", f"\n{prefix}") if single else (prefix,):
        step = len(needle)
        at = lower.find(needle)
        while at >= 0:
            found.append(at + single)
            at = lower.find(needle, at + step)
    return found


def _is_part(text: str, at: int, wanted: str) -> bool:
    """Whether the part of a camel-case identifier that starts at `at` stems to `wanted`."""
    piece = words.PART.match(text, at)
    return piece is not None and words.stem(piece[0].lower()) == wanted


def bm25(laid: Corpus, terms: Sequence[Term], found: Scan) -> list[float]:
    """The score of each item, at least 0; bigger is better; 0 for an item without any term."""
    count = len(laid.item_starts) - 1
    scores = [0.0] * count
    scale = K1 * B * count / max(1, laid.item_starts[-1])  # K1 * B / average length
    floor = K1 * (1 - B)
    norms = [floor + scale * (end - start) for start, end in pairwise(laid.item_starts)]
    for term, frequency in zip(terms, found.frequencies, strict=True):
        if not frequency:
            continue
        gain = term.weight * (K1 + 1) * rarity(count, len(frequency))
        for index, tf in frequency.items():
            scores[index] += gain * tf / (tf + norms[index])
    return scores


def rarity(count: int, holders: int) -> float:
    """The inverse document frequency of a term that `holders` of `count` items contain; at least 0."""
    return math.log(1 + (count - holders + 0.5) / (holders + 0.5))
