"""Late interaction: how well each word piece of a query is met by some word piece of a message. Pure, numpy.

For each query piece the best cosine to any piece of the message (Khattab and Zaharia, "ColBERT", 2020). The model was
trained for pooled vectors, so all its token vectors share a large common part; it is taken out first by subtracting
the mean token of the candidates (Arora et al., "A simple but tough-to-beat baseline for sentence embeddings", 2017).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def best_cosines(query: NDArray[np.int8], messages: Sequence[NDArray[np.int8]]) -> NDArray[np.float32]:
    """Return for each message and query piece the best mean-centred cosine.

    Args:
        query: Token vectors of the query, shape (q, d), q ≥ 1.
        messages: Token vectors of each message, shape (n, d), n ≥ 1.

    Returns:
        float32, shape (messages, q), in [-1, 1].
    """
    pieces = np.concatenate(messages).astype(np.float32)
    pieces /= np.linalg.norm(pieces, axis=1, keepdims=True)
    mean = pieces.mean(axis=0)
    asked = query.astype(np.float32)
    asked = asked / np.linalg.norm(asked, axis=1, keepdims=True) - mean
    asked /= np.maximum(np.linalg.norm(asked, axis=1, keepdims=True), 1e-6)
    # (t - m)·a / |t - m| without a centred copy of all pieces: |t| = 1, so |t - m|² = 1 - 2 t·m + m·m.
    products = pieces @ np.vstack([asked, mean]).T
    lengths = np.sqrt(np.maximum(1 - 2 * products[:, -1] + mean @ mean, 1e-6))
    cosines = (products[:, :-1] - asked @ mean) / lengths[:, np.newaxis]
    starts = np.cumsum([0, *(len(message) for message in messages[:-1])])
    return np.maximum.reduceat(cosines, starts, axis=0)
