"""What an encoder's vectors have in common whatever a text says: the level that a real likeness has to rise above.

The vectors of one model, and more so of one language, share a large part: unrelated texts have a cosine of 0.75 to 0.84
in e5. Taking it out by a mean of the user's own messages fails where there are few of them, so the means are fixed
ones, measured once over everyday texts of each script (Arora et al., "A simple but tough-to-beat baseline for sentence
embeddings", 2017; by language: Libovický et al., "On the language neutrality of pre-trained multilingual
representations", 2020). What is measured against them means the same in a history of one message and of ten thousand.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from satchel.embeddings.encoder import Encoder, Encoding

SCRIPTS = ("latin", "hangul", "kana", "han", "cyrillic", "arabic", "devanagari", "other")
"""What the rows of a background stand for; kana is Japanese, also with Han, and `other` is all of them together."""

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

# Everyday texts by which an encoder is measured that has no measurement of its own.
_TEXTS = (
    "We walked in the park this morning, the weather was lovely.",
    "Thank you, that helps a lot, I will try it tomorrow.",
    "My brother works as a nurse at the hospital.",
    "The deployment failed because the certificate had expired.",
    "I painted the kitchen yellow last summer.",
    "You could read a novel or listen to some music tonight.",
)
_QUESTIONS = (
    "What is my dog's name?",
    "When does the train leave?",
    "Which film did you recommend?",
    "Why was the order cancelled?",
    "How much rent do I pay?",
    "What am I allergic to?",
)


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """Means over everyday texts; one row per script of `SCRIPTS`, or a single one that serves all.

    Attributes:
        passages: float32, shape (scripts, d): mean of the token vectors of passages, each of length 1.
        queries: The same of queries.
        level: float32, shape (scripts, scripts): mean cosine of the pooled vectors of a query (row) and a passage
            (column) that have nothing to do with each other.
        spread: Standard deviation of these cosines.
    """

    passages: NDArray[np.float32]
    queries: NDArray[np.float32]
    level: NDArray[np.float32]
    spread: float

    def rows(self, scripts: NDArray[np.intp] | int) -> NDArray[np.intp]:
        """Return the row that serves each script, an index into `SCRIPTS`."""
        return np.minimum(scripts, len(self.level) - 1)


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


def measure_background(encoder: Encoder) -> Background:
    """Return a background of one row from a dozen English texts: for encoders that nobody measured beforehand."""
    return background_row(encoder.encode(_TEXTS, input_type="passage"), encoder.encode(_QUESTIONS, input_type="query"))


def background_row(passages: Sequence[Encoding], queries: Sequence[Encoding]) -> Background:
    """Return the background of one script.

    Args:
        passages: Encodings of everyday texts.
        queries: Encodings of questions that these do not answer.
    """
    cosines = np.stack([one.pooled for one in queries]) @ np.stack([one.pooled for one in passages]).T
    level = cosines.mean(keepdims=True).astype(np.float32)
    return Background(_mean_token(passages), _mean_token(queries), level, float(cosines.std()))


def _mean_token(encodings: Sequence[Encoding]) -> NDArray[np.float32]:
    tokens = [one.tokens.astype(np.float32) for one in encodings if one.tokens is not None and len(one.tokens)]
    if not tokens:
        return np.zeros((1, 0), np.float32)
    pieces = np.concatenate(tokens)
    pieces /= np.linalg.norm(pieces, axis=1, keepdims=True)
    return pieces.mean(axis=0, keepdims=True)
