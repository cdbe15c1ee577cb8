"""An encoder without a model: the double for tests and for places where meaning is not the point."""

import hashlib
import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from satchel.embeddings.background import Background
from satchel.embeddings.encoder import Encoding, InputType
from satchel.embeddings.measuring import measure_background

_WORD = re.compile(r"\w+")


class HashingEncoder:
    """Gives each word a pseudo-random direction: texts are near each other as far as they share words.

    The same text has the same vectors on every machine and in every process. Case is ignored.

    Args:
        dimensions: Length of a vector; a multiple of 8, at most 512.
    """

    name = "hashing"

    def __init__(self, dimensions: int = 384) -> None:
        self.dimensions = dimensions

    @property
    def background(self) -> Background:
        """What its vectors share: the words that all texts share."""
        return self._background

    @cached_property
    def _background(self) -> Background:
        return measure_background(self)

    def encode(self, texts: Sequence[str], *, input_type: InputType) -> list[Encoding]:
        """Encode each text by itself, see `Encoder.encode`; queries and passages alike."""
        del input_type
        return [self._encode(text) for text in texts]

    def _encode(self, text: str) -> Encoding:
        words = list(_WORD.finditer(text))
        rows = [self._direction(word.group().casefold()) for word in words]
        total = np.sum(rows, axis=0) if rows else np.ones(self.dimensions)
        length = np.linalg.norm(total)
        pooled = (total / length if length else np.ones(self.dimensions) / self.dimensions**0.5).astype(np.float32)
        tokens = np.array(rows, dtype=np.int8).reshape(-1, self.dimensions)
        return Encoding(pooled, tokens, tuple(word.span() for word in words), len(text))

    def _direction(self, word: str) -> NDArray[np.int8]:
        """Return a vector of +1 and -1 drawn from the word's hash."""
        digest = hashlib.shake_128(word.encode("utf-8", "surrogatepass")).digest(self.dimensions // 8)
        return np.unpackbits(np.frombuffer(digest, dtype=np.uint8)).astype(np.int8) * 2 - 1
