"""What the graph of a BERT encoder is made of, whatever file it comes from."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Sizes:
    """Shape of the transformer."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    epsilon: float


class Weights(Protocol):
    """The tensors of a model, by short names.

    `emb.pos`, `emb.type` and `emb.ln`; for layer N `lN.` and `q`, `k`, `v`, `ao` (attention's output), `aln` (its
    norm), `fi`, `fo` (feed forward, in and out) and `oln`; of a projection or norm then `.w` and `.b`.
    """

    @property
    def sizes(self) -> Sizes:
        """Shape of the transformer."""
        ...

    def floats(self, name: str) -> NDArray[np.float32]:
        """Return a tensor, flat."""
        ...

    def unpacked(self, name: str, columns: int) -> NDArray[np.float32]:
        """Return the weight of a projection, shape (outputs, columns)."""
        ...
