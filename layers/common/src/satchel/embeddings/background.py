"""What an encoder's vectors have in common whatever a text says: the level that a real likeness has to rise above.

The vectors of one model, and more so of one language, share a large part: unrelated texts have a cosine of 0.75 to 0.84
in e5. Taking it out by a mean of the user's own messages fails where there are few of them, so the means are fixed
ones, measured once over everyday texts of each script (Arora et al., "A simple but tough-to-beat baseline for sentence
embeddings", 2017; by language: Libovický et al., "On the language neutrality of pre-trained multilingual
representations", 2020). What is measured against them means the same in a history of one message and of ten thousand.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """Means over everyday texts; one row per script of `scripts.SCRIPTS`, or a single one that serves all.

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
        """Return the row that serves each script, an index into `scripts.SCRIPTS`."""
        return np.minimum(scripts, len(self.level) - 1)
