"""What an encoder's vectors have in common whatever a text says: the level that a real likeness has to rise above.

The vectors of one model, and more so of one language, share a large part: unrelated texts have a cosine of 0.75 to 0.84
in e5. Taking it out by a mean of the user's own messages fails where there are few of them, so the means are fixed
ones, measured once over everyday texts of each script (Arora et al., "A simple but tough-to-beat baseline for sentence
embeddings", 2017; by language: Libovický et al., "On the language neutrality of pre-trained multilingual
representations", 2020). What is measured against them means the same in a history of one message and of ten thousand.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from satchel.embeddings.encoder import Encoder, Encoding

SCRIPTS = ("latin", "hangul", "kana", "han", "cyrillic", "arabic", "devanagari", "other")
"""What the rows of a background stand for; kana is Japanese, also with Han, and `other` is all of them together."""

READ_CHARS = 400
"""The beginning of a text, by which its script is told."""

# A syllable or an ideograph tells about as much as three letters.
_SIGNS = (
    (re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]"), 1),
    (re.compile("[\uac00-\ud7a3\u3131-\u318e]"), 3),
    (re.compile("[\u3040-\u30ff]"), 3),
    (re.compile("[\u3400-\u9fff]"), 3),
    (re.compile("[\u0400-\u04ff]"), 1),
    (re.compile("[\u0600-\u06ff]"), 1),
    (re.compile("[\u0900-\u097f]"), 1),
    (re.compile("[\u0370-\u03ff\u0590-\u05ff\u0980-\u1cff]"), 1),
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

    def row(self, script: int) -> int:
        """Return the row that serves a script, an index into `SCRIPTS`."""
        return script if len(self.level) > 1 else 0


def script_of(text: str) -> int:
    """Return which of `SCRIPTS` most of a text's beginning is written in, as an index; Latin where nothing tells."""
    read = text[:READ_CHARS]
    if read.isascii():
        return 0
    counts = [weight * len(signs.findall(read)) for signs, weight in _SIGNS]
    if counts[_KANA]:
        counts[_KANA] += counts[_HAN]
    return max(range(len(counts)), key=lambda script: (counts[script], -script))


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
