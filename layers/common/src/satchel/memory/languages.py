"""Which language a text is in, as far as its function words tell, and the stems of its words.

Stems are those of Snowball (https://snowballstem.org). A few words do not tell a language: then a word gets its stem
in *every* language below, so that "Überweisung" finds "Überweisungen" whichever of the two stood alone.
"""

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any

FUNCTION_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "english": "the a an and or of to in on at is are was were be been i you he she it we they my your his her our "
        "their this that these those what when where who how why which do does did have has had with for from as by "
        "not but if so can could will would about me him them us there here than then its am im",
        "german": "der die das und oder ist sind war waren ich du er sie es wir ihr mein dein sein ein eine einen "
        "einem einer nicht mit von zu im in am auf fur dass was wann wo wer wie warum hat haben hatte wurde wurden "
        "werden den dem des bei aus nach auch noch",
        "french": "le la les un une des et ou est sont etait je tu il elle nous vous ils elles mon ma mes ton ta son "
        "sa ses notre votre ce cette ces que qui quoi quand comment pourquoi dans sur avec pour par pas ne du de au "
        "aux en l d j qu c s n m t",
        "spanish": "el la los las un una unos unas y o es son era fue yo tu usted nosotros mi su sus que cual cuando "
        "donde quien como por para con sin no se lo le del al en esta este esto hay",
        "italian": "il lo la i gli le un una e o sono era io tu lui lei noi voi mio tuo suo che chi quando dove come "
        "perche per con non si di del della dei al nel nella da in ho hai ha",
        "portuguese": "o a os as um uma e ou sao era foi eu tu ele ela nos voce meu seu sua que quem quando onde como "
        "por para com nao se do da dos das no na em esta este isso",
        "dutch": "de het een en of is zijn was waren ik jij hij zij wij mijn jouw niet met van te in op voor dat wat "
        "wanneer waar wie hoe waarom heeft hebben had werd worden bij uit naar ook nog",
        "swedish": "den det en ett och eller ar var jag du han hon vi ni min din inte med av till i pa for att som vad "
        "nar vem hur varfor har hade blev vid fran ocks",
    }.items()
}
"""Function words, accents folded, of the languages that share the Latin alphabet."""

SCRIPT_LANGUAGES = (
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u04ff", "russian"),
    ("\u0590", "\u05ff", None),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)
"""Alphabets that tell the language by themselves: first and last character, and the stemmer, if there is one."""

STEMMERS = {"dutch": "dutch_porter"}
"""Where the stemmer's name is not the language's: the newer Dutch one also cuts prefixes, and with them other words."""

CONFIDENT_WORDS = 2
"""Function words of one language, more than of any other, that settle it."""


def detect_language(words: Iterable[str]) -> str | None:
    """Return the language most of whose function words stand in a text; None where too few tell.

    Args:
        words: Folded words in any order.
    """
    counts = dict.fromkeys(FUNCTION_WORDS, 0)
    for word in words:
        for language, function_words in FUNCTION_WORDS.items():
            counts[language] += word in function_words
    (best, most), (_, second) = sorted(counts.items(), key=lambda item: -item[1])[:2]
    return best if most >= CONFIDENT_WORDS and most > second else None


@lru_cache(maxsize=32_768)
def stem(word: str, language: str) -> str:
    """Return the Snowball stem of a folded word."""
    return _stemmer(STEMMERS.get(language, language)).stemWord(word)


@lru_cache(maxsize=8_192)
def all_stems(word: str) -> frozenset[str]:
    """Return a Latin word's stems in every language of `FUNCTION_WORDS`."""
    return frozenset(stem(word, language) for language in FUNCTION_WORDS)


def shortest_stem(word: str) -> str:
    """Return the one of `all_stems` that all inflections of a word most likely share: the shortest, then the first."""
    return min(all_stems(word), key=lambda candidate: (len(candidate), candidate))


def script_language(character: str) -> tuple[bool, str | None]:
    """Tell whether a character's alphabet settles the language, and which stemmer serves it."""
    for first, last, language in SCRIPT_LANGUAGES:
        if first <= character <= last:
            return True, language
    return False, None


@cache
def _stemmer(language: str) -> Any:
    import snowballstemmer as untyped  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]

    snowballstemmer: Any = untyped
    return snowballstemmer.stemmer(language)
