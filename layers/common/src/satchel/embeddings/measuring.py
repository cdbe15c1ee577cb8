"""Measures what an encoder's vectors have in common; see `satchel.embeddings.background`."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from satchel.embeddings.background import Background
from satchel.embeddings.encoder import Encoder, Encoding

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
