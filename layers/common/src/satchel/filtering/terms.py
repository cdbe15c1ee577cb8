"""What to scan an array for: terms made of an intent's keywords and of the rest of its sentence.

Pure. A keyword decides order (see `ranking`); a context term only adds to the score.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from satchel.filtering import words

GENERIC_WEIGHT = 0.5
PART_WEIGHT = 0.5
ENOUGH_TERMS = 12
MAX_TERMS = 40
_MIN_STEM_CHARS = 2


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for.

    Attributes:
        stem: What a word of the text must stem to.
        prefix: What such a word starts with; what is scanned for.
        weight: Share of the score, 1 for a keyword.
        keyword: The normalised keyword it comes from; None for a context term.
        anywhere: True in scripts without spaces, where a match needs no word boundary.
        glued: True in Hangul, where a word may go on with an ending.
    """

    stem: str
    prefix: str
    weight: float
    keyword: str | None
    anywhere: bool = False
    glued: bool = False


def _prefix(stem: str) -> str:
    # Porter2 turns a final y into i and doubles nothing else, so the text's word starts with the stem less its i.
    return stem[:-1] if stem.endswith("i") and len(stem) >= words.STEM_FROM_CHARS else stem


def _of_word(word: str, weight: float, keyword: str | None) -> Iterable[Term]:
    lower = word.lower()
    pairs = words.unspaced_pairs(lower)
    if pairs:
        for pair in pairs:
            yield Term(pair, pair, weight / len(pairs) ** 0.5, keyword, anywhere=True)
        return
    stem = words.stem(lower)
    yield Term(stem, _prefix(stem), weight, keyword, glued=words.is_hangul(lower))
    pieces = words.parts(word)
    if len(pieces) > 1:
        for piece in pieces:
            if len(piece) >= _MIN_STEM_CHARS and piece not in words.FUNCTION_WORDS and not piece.isdigit():
                yield Term(words.stem(piece), _prefix(words.stem(piece)), weight * PART_WEIGHT, None)


def _of_keywords(keywords: Iterable[str], weights: Mapping[str, float]) -> Iterator[Term]:
    for keyword in keywords:
        text = words.normalise(keyword)
        found = words.WORD.findall(text)
        # An item contains a keyword of several words only where it contains them as they stand; see `phrases`.
        whole = text.lower() if len(found) == 1 else None
        for word in found:
            yield from _of_word(word, weights.get(keyword.lower(), 1.0), whole)


def _of_sentence(sentence: str, generic: Collection[str]) -> Iterator[Term]:
    for word in words.WORD.findall(words.normalise(sentence)):
        lower = word.lower()
        if lower not in words.FUNCTION_WORDS:
            weight = GENERIC_WEIGHT if lower in words.ASKING_WORDS or lower in generic else 1.0
            yield from _of_word(word, weight, None)


def of_intent(
    keywords: Iterable[str], sentence: str, weights: Mapping[str, float], generic: Collection[str]
) -> tuple[Term, ...]:
    """The terms of an intent, heaviest first, at most `MAX_TERMS`.

    Args:
        keywords: The intent's keywords, as written.
        sentence: The intent's sentence; its words that are no keyword become context terms.
        weights: Weight by keyword (lower case), where the tool's configuration sets one; 1 otherwise.
        generic: Words that say nothing for this kind of tool; like words of asking they weigh half.
    """
    found: dict[str, Term] = {}
    for term in (*_of_keywords(keywords, weights), *_of_sentence(sentence, generic)):
        known = found.get(term.stem)
        better = known is None or (term.keyword is not None and (known.keyword is None or term.weight > known.weight))
        if better:
            found[term.stem] = term
    if len(found) > ENOUGH_TERMS:  # a long question has better words than those of asking
        found = {stem: term for stem, term in found.items() if term.keyword is not None or term.weight > GENERIC_WEIGHT}
    ordered = sorted(found.values(), key=lambda term: (term.keyword is None, -term.weight))
    return tuple(ordered[:MAX_TERMS])


def phrases(keywords: Iterable[str]) -> tuple[str, ...]:
    """The keywords, normalised and in lower case, that are more than one word and so are looked for as they stand."""
    lowered = (words.normalise(keyword).lower().strip() for keyword in keywords)
    return tuple(text for text in lowered if text and words.WORD.fullmatch(text) is None)
