"""multilingual-e5-small: about 100 languages.

Model: Wang et al., "Multilingual E5 Text Embeddings", 2024 (MIT).
"""

from pathlib import Path

from satchel.embeddings.onnx_encoder import OnnxEncoder


class E5Encoder(OnnxEncoder):
    """e5-small with a 4-bit vocabulary, and 96 principal components of its token vectors: a quarter of the bytes."""

    prefixes = {"query": "query: ", "passage": "passage: "}  # noqa: RUF012 - declared in OnnxEncoder
    projection_file = Path(__file__).with_name("e5_small_tokens.bin")
    background_file = Path(__file__).with_name("e5_small_background.bin")
