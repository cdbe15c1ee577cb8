"""Tokens of a text in the vocabulary o200k_base, loaded when first asked for.

Pure. Byte pair encoding as in tiktoken; see `NOTICE.md` for where the vocabulary is from. Of a long text a sample is
counted, so the result is an estimate anyway.
"""

import re
import zlib
from base64 import b64decode
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

SAMPLED_CHARS = 200_000
_MAX_PIECE_BYTES = 64
# tiktoken's pattern in the classes that `re` knows: words with the mark before them, numbers by threes, marks, space.
_PIECE = re.compile(
    r"[^\r\n\w]?[A-ZÀ-ÞΑ-ΩА-Я]*[^\W\d_A-ZÀ-ÞΑ-ΩА-Я]+(?:'(?:s|t|re|ve|m|ll|d))?"
    r"|[^\r\n\w]?[^\W\d_]+(?:'(?:s|t|re|ve|m|ll|d))?"
    r"|\d{1,3}| ?(?:[^\s\w]|_)+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
)


@cache
def _ranks() -> dict[bytes, int]:
    packed = (files("satchel.filtering.o200k") / "o200k_base.bin").read_bytes()
    tokens = zlib.decompress(packed).split(b"\n")
    return {b64decode(token): rank for rank, token in enumerate(tokens) if token}


def count_tokens(text: str) -> int:
    """How many tokens the text is; of one over 200,000 characters the beginning is counted and scaled up."""
    sample = text[:SAMPLED_CHARS]
    counted = sum(_count_piece(piece) for piece in _PIECE.findall(sample))
    return counted if len(sample) == len(text) else round(counted * len(text) / len(sample))


@lru_cache(maxsize=50_000)
def _count_piece(piece: str) -> int:
    data = piece.encode("utf-8", "surrogatepass")
    ranks = _ranks()
    if data in ranks:
        return 1
    return sum(_merged(data[i : i + _MAX_PIECE_BYTES], ranks) for i in range(0, len(data), _MAX_PIECE_BYTES))


def _merged(data: bytes, ranks: dict[bytes, int]) -> int:
    parts = [data[i : i + 1] for i in range(len(data))]
    while len(parts) > 1:
        pairs = [(ranks.get(left + right), i) for i, (left, right) in enumerate(pairwise(parts))]
        known = [(rank, i) for rank, i in pairs if rank is not None]
        if not known:
            break
        _, i = min(known)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
    return len(parts)
