"""What one message says on its own: its terms, its cues and its shape.

Everything here is a function of the text alone. Words are lower-cased runs of letters, digits and underscores; a run
of Hangul, Han or kana is a word of its own. English and Korean cue words are in `cue_words.json`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

(
    GREETING, THANKS, ACKNOWLEDGE, SHIFT, ANAPHOR, CONNECTIVE, SEEK, PROBLEM, QUESTION_WORD, CLOSING, REQUEST, ADVICE,
    INDEFINITE, DEFINITE, QUESTION, LINK, CODE, LOWER_START, TRAILS_OFF, EXCLAIMS, HANGUL, POLITE, TILDE, STOPPED,
) = (1 << bit for bit in range(24))  # fmt: skip
CUE_BITS = 24
# How somebody writes, as far as it tells one writer from another.
STYLE = LOWER_START | EXCLAIMS | HANGUL | POLITE | TILDE | STOPPED
# The cues that come from words, in the order of their bits.
_FROM_WORDS = (
    "greeting", "thanks", "acknowledge", "shift", "anaphor", "connective", "seek", "problem", "question_word",
    "closing", "request", "advice", "indefinite", "definite",
)  # fmt: skip

_READ_CHARS = 4_000
# Cues are looked for where a message begins; problems everywhere.
_BEGINNING_WORDS = 14
_WORD = re.compile(r"[a-z0-9_\u00c0-\u024f\u0370-\u06ff]+(?:'[a-z]+)?|[\uac00-\ud7a3]+|[\u3040-\u30ff\u4e00-\u9fff]+")
_ADDRESS = re.compile(r"\s*(?:@([\w.-]{2,40})|([\w.-]{2,40})\s?[:,]\s)")
_MAY_BE_CODE = re.compile(r"[`;{(<>$#=]")
_CODE = re.compile(r"```|`[^`\n]{2,}`|<-code->|[;{}]\s*(?:\n|$)|\w\(\w*\)|=>|</?\w+>|^\s*[$#>] \w", re.MULTILINE)
_QUESTION_MARKS = ("?", "\uff1f")
_ASKING_ENDINGS = (
    "나요", "까요", "가요", "니까", "은가", "는가", "을까", "는데요", "어때", "뭐야", "뭐지", "뭐니", "지요",
    "죠", "냐", "니", "까",
)  # fmt: skip
_POLITE_ENDINGS = ("요", "니다", "니까", "세요", "죠")
_PARTICLES = re.compile(
    r"(?:에서는|으로는|에서|에게|한테|으로|까지|부터|이랑|하고|처럼|보다|마다|이나|은|는|이|가|을|를|에|로|도|만|의|와|과|랑|나)$"
)
_ENDINGS = re.compile(
    r"(?:하려면|하려고|하는데|했는데|하면|하고|하는|하기|해서|해줘|해주세요|해야|했어|할까|합니다|하세요|되나요|되는|돼요|됩니다|인가요"
    r"|이야|이에요|예요|있어|있나요|하나요|할|한|해|줘|요)$"
)
_HANGUL = "\uac00"
_KOREAN_STEM_CHARS = 2
_LEAST_STEM_CHARS = 3
_SUFFIXES = ("'s", "ings", "ing", "ies", "ied", "ed", "es", "s", "ly")


class Text(NamedTuple):
    """One message's text as the features see it.

    Attributes:
        words: In order.
        terms: Distinct content terms in order of first use.
        cues: A bit set of the constants above.
        chars: Length in characters.
        addressee: The lower-cased name that the text opens with ("name:" or "@name"), or "".
    """

    words: list[str]
    terms: tuple[str, ...]
    cues: int
    chars: int
    addressee: str


class _CueWords(NamedTuple):
    """Cue bits by word or by two words, which words begin such a pair, those of problems, and those without content."""

    bits: Mapping[str, int]
    pair_heads: frozenset[str]
    problems: frozenset[str]
    function_words: frozenset[str]


@cache
def _cue_words() -> _CueWords:
    listed = json.loads(files("satchel.blocks").joinpath("cue_words.json").read_text(encoding="utf-8"))
    bits: dict[str, int] = {}
    for bit, name in enumerate(_FROM_WORDS):
        for entry in listed[name]:
            bits[entry] = bits.get(entry, 0) | 1 << bit
    heads = frozenset(entry.partition(" ")[0] for entry in bits if " " in entry)
    return _CueWords(bits, heads, frozenset(listed["problem"]), frozenset(listed["function_words"]))


def read(text: str) -> Text:
    """What a text says on its own; reads its first 4,000 characters."""
    text = text[:_READ_CHARS]
    lower = text.lower()
    words = _WORD.findall(lower)
    terms = dict.fromkeys(map(term_of, words))
    terms.pop("", None)
    address = _ADDRESS.match(lower) if "@" in lower or ":" in lower or "," in lower else None
    return Text(
        words,
        tuple(terms),
        _word_cues(words) | _shape_cues(text, lower) | (_korean_cues(words[-1]) if words else 0),
        len(text),
        (address[1] or address[2]) if address else "",
    )


def _word_cues(words: Sequence[str]) -> int:
    bits, pair_heads, problems, _ = _cue_words()
    beginning = words[:_BEGINNING_WORDS]
    cues = 0
    for word in bits.keys() & beginning:
        cues |= bits[word]
    if not pair_heads.isdisjoint(beginning):
        for word, following in zip(beginning, words[1:], strict=False):
            if word in pair_heads:
                cues |= bits.get(f"{word} {following}", 0)
    if len(words) > _BEGINNING_WORDS and not problems.isdisjoint(words):
        cues |= PROBLEM
    return cues


def _shape_cues(text: str, lower: str) -> int:
    cues = LOWER_START if text[:1].islower() else 0
    if _QUESTION_MARKS[0] in text or _QUESTION_MARKS[1] in text:
        cues |= QUESTION
    if "http" in lower or "<-link->" in lower or "www." in lower:
        cues |= LINK
    if _MAY_BE_CODE.search(text) and _CODE.search(lower):
        cues |= CODE
    if text.endswith(("...", "…", ",", ":")):
        cues |= TRAILS_OFF
    if text.endswith("!"):
        cues |= EXCLAIMS | STOPPED
    elif text.endswith((".", "?")):
        cues |= STOPPED
    return cues | TILDE if "~" in text else cues


def _korean_cues(last_word: str) -> int:
    """What the last word says where it is Korean: sentences end with their verb."""
    if last_word[0] < _HANGUL:
        return 0
    cues = HANGUL
    if last_word.endswith(_ASKING_ENDINGS):
        cues |= QUESTION
    if last_word.endswith(_POLITE_ENDINGS):
        cues |= POLITE
    return cues | ADVICE if last_word.endswith("세요") else cues


@lru_cache(maxsize=65_536)
def term_of(word: str) -> str:
    """The term a word counts as, or "" for a function word.

    Stems are crude, since overlap only needs the same word to give the same term: Korean verbs and particles are cut
    and two syllables kept, English endings are cut.
    """
    if len(word) == 1 or word in _cue_words().function_words:
        return ""
    if _HANGUL <= word[0] <= "\ud7a3":
        return _korean_term(word)
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _LEAST_STEM_CHARS:
            return word[: -len(suffix)]
    return word[:-1] if word[-1] in "ey" and len(word) > _LEAST_STEM_CHARS + 1 else word


def _korean_term(word: str) -> str:
    root = _ENDINGS.sub("", word)
    if len(root) < _KOREAN_STEM_CHARS:
        return ""
    stem = _PARTICLES.sub("", root)
    return (stem if len(stem) >= _KOREAN_STEM_CHARS else root)[:_KOREAN_STEM_CHARS]
