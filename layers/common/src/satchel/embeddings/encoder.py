"""What an encoder is, and what it returns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from satchel.embeddings.background import Background

InputType = Literal["query", "passage"]


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """The vectors of one text.

    Attributes:
        pooled: float32, shape (dimensions,), of length 1: the text as a whole.
        tokens: int8, shape (n, d), d the encoder's own: one vector per word piece, without the model's own markers.
            Only the direction carries meaning, the length is arbitrary. None where the model gives no such vectors.
        spans: For each row of `tokens` the characters [start, end) of the text it stands for; empty without tokens.
        chars_read: Characters of the text that were read; fewer than it has where the model's limit cut it.
    """

    pooled: NDArray[np.float32]
    tokens: NDArray[np.int8] | None
    spans: tuple[tuple[int, int], ...] = ()
    chars_read: int = 0


class Encoder(Protocol):
    """Turns texts into vectors that are comparable with each other, and only within the same `name`."""

    @property
    def name(self) -> str:
        """Model and revision, stored beside each vector; vectors of two names never meet."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of a pooled vector."""
        ...

    @property
    def background(self) -> Background:
        """What its vectors have in common whatever a text says."""
        ...

    def encode(self, texts: Sequence[str], *, input_type: InputType) -> list[Encoding]:
        """Encode each text by itself: the answer for one does not depend on its neighbours in the batch.

        Args:
            texts: Any text, also empty.
            input_type: Whether it asks (`query`) or is looked for (`passage`); models tell the two apart.

        Returns:
            One encoding per text, in the same order.

        Raises:
            UnavailableError: The model cannot answer now; the same call may work later.
        """
        ...
