"""all-MiniLM-L6-v2: English, in 40 % of the size of e5-small and half of its time.

Model: sentence-transformers, from Wang et al., "MiniLM: deep self-attention distillation", 2020 (Apache-2.0).
"""

from pathlib import Path

from satchel.embeddings.onnx_encoder import OnnxEncoder


class MiniLmEncoder(OnnxEncoder):
    """MiniLM with a float16 vocabulary, and 96 principal components of its token vectors."""

    projection_file = Path(__file__).with_name("minilm_tokens.bin")
    background_file = Path(__file__).with_name("minilm_background.bin")
