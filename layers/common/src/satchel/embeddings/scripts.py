"""Which script a text is written in: what vectors have in common differs from script to script. Pure, numpy."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SCRIPTS = ("latin", "hangul", "kana", "han", "cyrillic", "arabic", "devanagari", "other")
"""Scripts that are told apart; kana is Japanese, also with Han, and `other` is all of them together."""

READ_CHARS = 400
"""The beginning of a text, by which its script is told."""

# The characters of each script but the last ("first last", or one alone), and how much one of them tells: a syllable or
# an ideograph about as much as three letters.
_SIGNS = (
    (("AZ", "az", "\u00c0\u024f", "\u1e00\u1eff"), 1),
    (("\uac00\ud7a3", "\u3131\u318e"), 3),
    (("\u3040\u30ff",), 3),
    (("\u3400\u9fff",), 3),
    (("\u0400\u04ff",), 1),
    (("\u0600\u06ff",), 1),
    (("\u0900\u097f",), 1),
    (("\u0370\u03ff", "\u0590\u05ff", "\u0980\u1cff"), 1),
)
_KANA, _HAN = SCRIPTS.index("kana"), SCRIPTS.index("han")


def script_of(text: str) -> int:
    """Return which of `SCRIPTS` most of a text's beginning is written in, as an index; Latin where nothing tells."""
    return scripts_of([text])[0]


def scripts_of(texts: Sequence[str]) -> list[int]:
    """Return `script_of` for each of many texts: a search asks of hundreds."""
    read = [text[:READ_CHARS] for text in texts]
    scripts = [0] * len(texts)
    # ASCII is Latin, whatever it says.
    others = [at for at, text in enumerate(read) if not text.isascii()]
    if not others:
        return scripts
    characters = np.frombuffer("".join(read[at] for at in others).encode("utf-32-le", "surrogatepass"), "<u4")
    of_text = np.repeat(np.arange(len(others)), [len(read[at]) for at in others])
    width = len(SCRIPTS) + 1
    signs = np.bincount(
        of_text * width + _SCRIPT_OF[np.minimum(characters, len(_SCRIPT_OF) - 1)], minlength=len(others) * width
    )
    counts = signs.reshape(-1, width)[:, : len(SCRIPTS)] * [weight for _, weight in _SIGNS]
    counts[:, _KANA] += np.where(counts[:, _KANA], counts[:, _HAN], 0)
    for at, script in zip(others, counts.argmax(axis=1).tolist(), strict=True):
        scripts[at] = script
    return scripts


def _script_of_characters() -> NDArray[np.uint8]:
    """Return for each character of the basic plane the script it is a sign of, one past the last for none."""
    table = np.full(0x10000, len(SCRIPTS), np.uint8)
    for script, (spans, _) in enumerate(_SIGNS):
        for first, last in spans:
            table[ord(first) : ord(last) + 1] = script
    return table


_SCRIPT_OF = _script_of_characters()
