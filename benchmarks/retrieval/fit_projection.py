"""Fits the projection that shortens the token vectors of an encoder: principal components of their directions.

usage: fit_projection.py MODEL_FOLDER OUT.bin FILE.jsonl... [--dimensions 96]

Only feed it texts whose licence lets the result be shipped (what is shipped was made from the MemoryBank dialogues,
MIT, and one Korean dialogue of our own). OUT.bin holds float16 rows: the mean token, then the components.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import product


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--dimensions", type=int, default=96)
    given = parser.parse_args()
    encoder = product.ENCODERS[given.model.name](given.model, shortened=False)
    lines = [line for file in given.files for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    texts = [message["content"] for line in lines for message in json.loads(line)["messages"]]
    rows = [encoding.tokens for encoding in encoder.encode(texts, input_type="passage") if encoding.tokens is not None]
    pieces = np.concatenate(rows).astype(np.float32)
    pieces /= np.linalg.norm(pieces, axis=1, keepdims=True)
    mean = pieces.mean(axis=0)
    values, components = np.linalg.eigh(np.cov((pieces - mean).T))
    chosen = components[:, ::-1][:, : given.dimensions].T
    # The sign of a component is arbitrary; fixing it makes the file reproducible.
    chosen *= np.sign(chosen[np.arange(len(chosen)), np.abs(chosen).argmax(axis=1)])[:, np.newaxis]
    np.vstack([mean, chosen]).astype("<f2").tofile(given.out)
    kept = values[::-1][: given.dimensions].sum() / values.sum()
    print(f"{len(pieces)} pieces, {given.dimensions} components keep {kept:.1%} of the variance")


if __name__ == "__main__":
    main()
