"""The keyword terms of a text, in any language: what `keyword_search` counts.

- Compatibility forms, case and accents are folded: `ÉTÉ`, `été` and `ete` are one word, `ß` is `ss`.
- Scripts written without spaces (Han, Kana, Thai, Lao, Khmer, Burmese) and Hangul, where particles stick to words,
  become character bigrams, plus the last character of each run; a query of one character looks for every term that
  begins with it, and so finds it anywhere. (Bigrams for CJK: Nie et al., "On the use of words and n-grams for
  Chinese information retrieval", 2000.)
- Other words become Snowball stems, see `languages`.
- Identifiers are kept whole and in parts: `getUserName`, `gen-itgc`, `BTC/USDT`, `v2.3.1`. `C++`, `C#` and `F#`
  keep their signs.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from satchel.memory.languages import (
    FUNCTION_WORDS,
    all_stems,
    detect_language,
    script_language,
    shortest_stem,
    stem,
)

MAX_TERM_CHARS = 64
"""A longer word is cut and not inflected: nobody types more of it, and the index's keys stay small."""

MAX_QUERY_TERMS = 64
"""Distinct terms of one query that are looked up; a pasted document is searched for by its first ones."""

# Han, Kana (with its prolonged-sound mark), Hangul, Thai, Lao, Burmese, Khmer.
_DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# Letters and digits of the other scripts, with the marks that Python's \w leaves out (accents, Indic vowel signs).
_LETTER = rf"(?:[^\W_{_DENSE}]|[\u0300-\u036f\u0900-\u0dff])"
_WORD = re.compile(
    rf"(?P<dense>[{_DENSE}]+)"
    rf"|(?P<signed>(?<!{_LETTER})[A-Za-z](?:\+\+|\#)(?!{_LETTER}))"
    # A single letter at an apostrophe belongs to the grammar: don't, l'ete.
    rf"|(?:(?<=['\u2019])[A-Za-z](?!{_LETTER})|(?<!{_LETTER})[A-Za-z](?=['\u2019]))"
    rf"|(?P<word>{_LETTER}+(?:(?:[-_./:@]|(?<=\d),(?=\d)){_LETTER}+)*)"
)
_PART = re.compile(r"\d+(?:[.,]\d+)*|[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|[^\W\d_]+")
# Accents of Latin and Greek (Cyrillic й keeps its mark, ё does not), and the points of Hebrew and Arabic.
_MARKS = re.compile("(?<![\u0400-\u04ff])[\u0300-\u036f]+|(?<=[\u0435\u0415])\u0308")
_POINTS = re.compile("[\u0591-\u05c7\u064b-\u065f\u0670\u0640]+")
_ALPHABETS_WITH_SIGNS = re.compile("[\u0900-\u0dff]")
# Letters that no decomposition takes apart: barred and dotless Latin ones, and the Arabic endings written two ways.
_SPECIAL = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "\u0131": "i", "\u0649": "\u064a", "\u0629": "\u0647"})
_PARTICLES = frozenset("은는이가을를에의도로와과만야랑")


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One word of a query.

    Attributes:
        word: As the asker wrote it.
        variants: Index terms that count as this word; at least one.
        prefix: A single character of a dense script: every index term that begins with it counts as well.
        start: Where the word begins in the text that was given.
        end: Where it ends, exclusive.
    """

    word: str
    variants: frozenset[str]
    prefix: str | None
    start: int
    end: int


def normalize(text: str) -> str:
    """Return the text in Unicode's compatibility form (NFKC) without vowel points: what spans of terms refer to."""
    return _POINTS.sub("", unicodedata.normalize("NFKC", text))


def fold(word: str) -> str:
    """Return a word without case, accents and vowel points."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", word).casefold())
    return unicodedata.normalize("NFC", _MARKS.sub("", decomposed)).translate(_SPECIAL)


def passage_terms(text: str) -> Counter[str]:
    """Count the index terms of a text.

    Returns:
        Terms with their frequency; the function words of the text's own language are left out.
    """
    words = list(_split(normalize(text)))
    language = detect_language(word.folded for word in words if not word.dense)
    counts: Counter[str] = Counter()
    for word in words:
        if word.dense:
            counts.update(_bigrams(word.folded))
        elif language is None or word.folded not in FUNCTION_WORDS[language]:
            counts.update(_passage_forms(word, language))
    return counts


def query_terms(text: str) -> list[QueryTerm]:
    """Return the words of a query with all the index terms that count as them, in order, each word once.

    Function words are left out unless there is nothing else.

    Args:
        text: In the form of `normalize`, to which the spans refer.
    """
    words = list(_split(text))
    language = detect_language(word.folded for word in words if not word.dense)
    telling = [word for word in words if word.dense or not _is_function_word(word.folded, language)]
    found: dict[frozenset[str], QueryTerm] = {}
    for word in telling or words:
        for term in _query_forms(word, language):
            found.setdefault(term.variants, term)
        if len(found) >= MAX_QUERY_TERMS:
            break
    return list(found.values())[:MAX_QUERY_TERMS]


_Kind = Literal["dense", "exact", "inflected"]


@dataclass(frozen=True, slots=True)
class _Word:
    folded: str
    kind: _Kind
    start: int
    end: int

    @property
    def dense(self) -> bool:
        return self.kind == "dense"


def _split(text: str) -> list[_Word]:
    words: list[_Word] = []
    for match in _WORD.finditer(text):
        if match.lastgroup == "word":
            words += _identifier(match.group(), match.start())
        elif match.lastgroup:
            kind = "dense" if match.lastgroup == "dense" else "exact"
            words.append(_word(match.group(), kind, match.start(), match.end()))
    return [word for word in words if word.folded]


def _identifier(text: str, start: int) -> list[_Word]:
    """Return the parts of a word and, where there are several, the whole without its joints."""
    if _ALPHABETS_WITH_SIGNS.search(text) or (text.isalpha() and (text.islower() or not text.isascii())):
        return [_word(text, "inflected", start, start + len(text))]
    parts = [_part(part, start) for part in _PART.finditer(text)]
    if len(parts) < 2:  # noqa: PLR2004 - one part is the word itself
        return parts
    whole = "".join(part.folded for part in parts)[:MAX_TERM_CHARS]
    return [*parts, _Word(whole, "exact", start, start + len(text))]


def _part(match: re.Match[str], start: int) -> _Word:
    text = match.group()
    kind = "exact" if text[0].isdigit() else "inflected"
    return _word(text.replace(",", ""), kind, start + match.start(), start + match.end())


def _word(text: str, kind: _Kind, start: int, end: int) -> _Word:
    folded = fold(text)
    if kind == "dense" or len(folded) <= MAX_TERM_CHARS:
        return _Word(folded, kind, start, end)
    return _Word(folded[:MAX_TERM_CHARS], "exact", start, end)


def _is_function_word(word: str, language: str | None) -> bool:
    if language is not None:
        return word in FUNCTION_WORDS[language]
    return word in FUNCTION_WORDS["english"]


def _passage_forms(word: _Word, language: str | None) -> set[str]:
    settled, script = script_language(word.folded[0])
    if word.kind == "exact" or (settled and not script):
        return {word.folded}
    if settled and script:
        return {stem(word.folded, script)}
    if language is None:
        return {stem(word.folded, "english"), shortest_stem(word.folded)}
    return {stem(word.folded, language)}


def _query_forms(word: _Word, language: str | None) -> list[QueryTerm]:
    if word.dense:
        return _dense_query_forms(word)
    settled, script = script_language(word.folded[0])
    if word.kind == "exact":
        variants = {word.folded}
    elif settled:
        variants = {word.folded, stem(word.folded, script)} if script else {word.folded}
    elif language == "english" and word.folded.isascii():
        variants = {stem(word.folded, language), shortest_stem(word.folded)}
    else:
        variants = {word.folded, *all_stems(word.folded)}
    return [QueryTerm(word.folded, frozenset(variants), None, word.start, word.end)]


def _dense_query_forms(word: _Word) -> list[QueryTerm]:
    if len(word.folded) == 1:
        return [QueryTerm(word.folded, frozenset({word.folded}), word.folded, word.start, word.end)]
    noun = _noun_of_one_syllable(word.folded)
    if noun:
        return [QueryTerm(noun, frozenset({noun, word.folded}), noun, word.start, word.start + 1)]
    pairs = [(word.folded[at : at + 2], word.start + at) for at in range(len(word.folded) - 1)]
    return [QueryTerm(pair, frozenset({pair}), None, start, start + 2) for pair, start in pairs]


def _bigrams(run: str) -> list[str]:
    return [*(run[at : at + 2] for at in range(len(run) - 1)), run[-1]]


def _noun_of_one_syllable(word: str) -> str | None:
    """Return the noun of a Korean word such as 책을: one syllable and a particle."""
    is_noun = len(word) == 2 and word[1] in _PARTICLES and "\uac00" <= word[0] <= "\ud7a3"  # noqa: PLR2004
    return word[0] if is_noun else None
