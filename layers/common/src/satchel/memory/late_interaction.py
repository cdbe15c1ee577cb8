"""Late interaction: how well each word piece of a query is met by some word piece of a message. Pure, numpy.

For each query piece the best cosine to any piece of the message (Khattab and Zaharia, "ColBERT", 2020). The model was
trained for pooled vectors, so all its token vectors share a large common part; it is taken out first, see
`satchel.embeddings.background`.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def best_cosines(
    query: NDArray[np.int8],
    messages: Sequence[NDArray[np.int8]],
    *,
    query_mean: NDArray[np.float32],
    means: NDArray[np.float32],
    rows: Sequence[int],
) -> NDArray[np.float32]:
    """Return for each message and query piece the best mean-centred cosine.

    Args:
        query: Token vectors of the query, shape (q, d), q ≥ 1.
        messages: Token vectors of each message, shape (n, d), n ≥ 1.
        query_mean: What is taken out of the query's vectors, shape (d,).
        means: What may be taken out of a message's vectors, shape (k, d).
        rows: For each message the row of `means`.

    Returns:
        float32, shape (messages, q), in [-1, 1].
    """
    asked = query.astype(np.float32)
    asked = asked / np.linalg.norm(asked, axis=1, keepdims=True) - query_mean
    asked /= np.maximum(np.linalg.norm(asked, axis=1, keepdims=True), 1e-6)
    counts = [len(message) for message in messages]
    used, mean_of_message = np.unique(rows, return_inverse=True)
    means = means[used]
    mean_of = np.repeat(mean_of_message, counts)
    pieces = np.concatenate(messages).astype(np.float32)
    # (t - m)·a / |t - m| without a centred copy of all pieces: t is scaled to |t| = 1, so |t - m|² = 1 - 2 t·m + m·m.
    products = pieces @ np.vstack([asked, means]).T
    products /= np.sqrt(np.einsum("ij,ij->i", pieces, pieces))[:, np.newaxis]
    shared = products[np.arange(len(pieces)), len(asked) + mean_of]
    lengths = np.sqrt(np.maximum(1 - 2 * shared + np.einsum("ij,ij->i", means, means)[mean_of], 1e-6))
    cosines = (products[:, : len(asked)] - (means @ asked.T)[mean_of]) / lengths[:, np.newaxis]
    return np.maximum.reduceat(cosines, np.cumsum([0, *counts[:-1]]), axis=0)
