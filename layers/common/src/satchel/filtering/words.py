"""Words of natural and technical text: normalised, split as people write identifiers, stemmed.

Pure. English is stemmed by Porter2; Korean words lose their particle; Chinese and Japanese runs, which have no
spaces, are cut into pairs of characters, the usual substitute for a word splitter.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any, cast

WORD = re.compile(r"[^\W_]+")
# Parts of an identifier: HTTPServer -> HTTP Server, getFileStatus -> get File Status, log4j -> log 4 j.
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")

_ACCENTS = re.compile("[\u0300-\u036f]+")
_ASCII = bytes(range(128))
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f]+")
_HANGUL = re.compile("[\uac00-\ud7a3]+")
_PARTICLES = (
    *("에서는", "에서", "으로", "에게", "까지", "부터", "이나", "라는", "하고"),
    *("은", "는", "이", "가", "을", "를", "에", "의", "와", "과", "도", "로", "만"),
)
STEM_FROM_CHARS = 4

# Words that carry grammar, not a subject.
FUNCTION_WORDS = frozenset(
    """
    a about above after again against all also am an and any are aren as at be because been before being below
    between both but by can cannot could couldn d did didn do does doesn doing don down during each few for from
    further had hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn
    it its itself just ll m me more most my myself no nor not now o of off on once only or other our ours
    ourselves out over own per re s same she should shouldn so some such t than that the their theirs them
    themselves then there these they this those through to too under until up us ve very was wasn we were weren
    what when where which while who whom whose why will with won would wouldn y you your yours yourself
    """.split()  # noqa: SIM905 - a list of hundreds of quoted words would be hard to read
)
# Words of asking and of everyday talk: they may help to rank, they never decide what a question is about.
ASKING_WORDS = frozenset(
    """
    able anybody anyone anything anyway ask back bad best better bit bring came cannot change come cool else even
    ever every everybody everyone everything find first gave get getting give go goes going gone good got great
    guy guys happen happened happens hard hello help hey hi idea issue issues item items keep kind know last let
    like list little look looking lot made make making many maybe mean mention mentioned mentioning much need
    never new next nice nobody ok okay old one part people person place please possible problem question real
    really record records relate related result results return right row rows run said say says search see seem
    show simple since something soon sorry start started still stop stuff sure take tell thank thanks thing things
    think thought time today took tried try trying two use used user users using want way went wonder work working
    works wrong yes yet
    """.split()  # noqa: SIM905 - a list of hundreds of quoted words would be hard to read
)


def normalise(text: str) -> str:
    """`text` in composed form, full-width forms narrowed and Latin accents dropped; ASCII comes back as it is."""
    if text.isascii() or unicodedata.is_normalized("NFKD", text):
        return text
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))


def to_ascii(text: str) -> str:
    """`text` without Latin accents, and each character that is still not ASCII replaced by a question mark."""
    for char in set(text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")):
        plain = _plain(char)
        if plain != "?":
            text = text.replace(char, plain)
    return text.encode("ascii", "replace").decode("ascii")


@lru_cache(maxsize=10_000)
def _plain(char: str) -> str:
    """What one character is in ASCII: nothing for an accent by itself, `?` where it is nothing there."""
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", char))
    return plain if plain.isascii() else "?"


@lru_cache(maxsize=1)
def _english() -> Callable[[str], str]:
    # Imported only where words are stemmed: it costs 30 ms. It has no stubs.
    module: Any = import_module("snowballstemmer.english_stemmer")
    return cast("Callable[[str], str]", module.EnglishStemmer().stemWord)


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The stem of one lower-case word: Porter2 for ASCII words of four letters and more, else the word itself."""
    if word.isascii():
        return _english()(word) if len(word) >= STEM_FROM_CHARS and word.isalpha() else word
    if _HANGUL.fullmatch(word):
        for particle in _PARTICLES:
            if word.endswith(particle) and len(word) > len(particle) + 1:
                return word[: -len(particle)]
    return word


def parts(word: str) -> list[str]:
    """The lower-case parts of an identifier written in camel case or with digits; one part for a plain word."""
    return [part.lower() for part in PART.findall(word)]


def unspaced_pairs(word: str) -> list[str]:
    """The overlapping pairs of characters of a word in a script without spaces; empty for any other script."""
    if not _UNSPACED.fullmatch(word):
        return []
    return [word[i : i + 2] for i in range(len(word) - 1)] or [word]


def is_hangul(word: str) -> bool:
    """Whether the word is written in Hangul, where endings are glued to the stem."""
    return _HANGUL.fullmatch(word) is not None
