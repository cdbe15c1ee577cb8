"""Late interaction: how well each word piece of a query is met by some word piece of a message. Pure, numpy.

For each query piece the best cosine to any piece of the message (Khattab and Zaharia, "ColBERT", 2020). The model was
trained for pooled vectors, so all its token vectors share a large common part; it is taken out first, see
`satchel.embeddings.background`.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

BATCH = 128
"""Messages that are compared at once: what comes of them stays in the processor's cache, and memory is bounded."""


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
    found = np.empty((len(messages), len(asked)), np.float32)
    for row in sorted(set(rows)):
        members = [at for at, used in enumerate(rows) if used == row]
        for begin in range(0, len(members), BATCH):
            part = members[begin : begin + BATCH]
            found[part] = _best_of_each(asked, [messages[at] for at in part], means[row])
    return found


def _best_of_each(
    asked: NDArray[np.float32], messages: Sequence[NDArray[np.int8]], mean: NDArray[np.float32]
) -> NDArray[np.float32]:
    pieces = np.concatenate(messages).astype(np.float32)
    counts = np.array([len(message) for message in messages])
    # (t - m)·a / |t - m| without a centred copy of all pieces: t is scaled to |t| = 1, so |t - m|² = 1 - 2 t·m + m·m.
    # The matrix library is half as quick where the columns are no multiple of sixteen: zeros fill them up.
    columns = np.zeros((-(-(len(asked) + 1) // 16) * 16, len(mean)), np.float32)
    columns[: len(asked)], columns[len(asked)] = asked, mean
    products = np.ascontiguousarray((pieces @ columns.T).T[: len(asked) + 1])
    products /= np.sqrt(np.vecdot(pieces, pieces))
    lengths = np.sqrt(np.maximum(1 - 2 * products[-1] + mean @ mean, 1e-6))
    cosines = (products[:-1] - (asked @ mean)[:, np.newaxis]) / lengths
    return np.maximum.reduceat(cosines, np.cumsum(counts) - counts, axis=1).T
