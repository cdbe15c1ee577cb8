"""Short texts for people: one line, cut between characters as a reader sees them."""

import unicodedata

_ZERO_WIDTH_JOINER = "\u200d"
_MORE = "…"


def excerpt(text: str, max_chars: int) -> str:
    """`text` on one line, at most `max_chars` code points of it, with `…` where something was cut.

    A cut never falls inside what a reader sees as one character: combining marks, variation selectors, skin tones,
    joined emoji and flags stay whole or go whole (the common cases of Unicode's UAX #29).
    """
    line = " ".join(text.split())
    if len(line) <= max_chars:
        return line
    end = max_chars
    while end > 0 and _inside_character(line, end):
        end -= 1
    return line[:end].rstrip() + _MORE


def _inside_character(line: str, place: int) -> bool:
    after, before = line[place], line[place - 1]
    if unicodedata.combining(after) or unicodedata.category(after) in ("Mn", "Me", "Mc") or _is_modifier(after):
        return True
    if _ZERO_WIDTH_JOINER in (after, before):
        return True
    if not (_is_flag_letter(after) and _is_flag_letter(before)):
        return False
    start = place
    while start > 0 and _is_flag_letter(line[start - 1]):
        start -= 1
    return (place - start) % 2 == 1


def _is_modifier(character: str) -> bool:
    return "\U0001f3fb" <= character <= "\U0001f3ff" or "\ufe00" <= character <= "\ufe0f"


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
