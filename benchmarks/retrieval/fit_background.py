"""Measures what an encoder's vectors have in common in each script: `satchel.embeddings.background`.

usage: fit_background.py MODEL_FOLDER OUT.bin

From our own everyday texts beside this file: `facts.tsv` (statement and question, in English, Korean and Chinese) and
`languages.tsv` (language, statement, question). For the Latin script English counts as much as all other languages.
OUT.bin holds float16: a row per script of mean passage tokens, as many of mean query tokens, the levels, the spread.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import product
from numpy.typing import NDArray

from satchel.embeddings.encoder import Encoding
from satchel.embeddings.measuring import background_row
from satchel.embeddings.scripts import SCRIPTS

HERE = Path(__file__).parent
SCRIPT_OF = {"ko": "hangul", "ja": "kana", "zh": "han", "ru": "cyrillic", "ar": "arabic", "hi": "devanagari"}


def texts() -> dict[str, list[tuple[str, str]]]:
    """Pairs of a statement and its question, by language."""
    pairs: dict[str, list[tuple[str, str]]] = {}
    for line in (HERE / "facts.tsv").read_text(encoding="utf-8").splitlines():
        cells = line.split("\t")
        for at, language in enumerate(("en", "ko", "zh")):
            pairs.setdefault(language, []).append((cells[2 * at], cells[2 * at + 1]))
    for line in (HERE / "languages.tsv").read_text(encoding="utf-8").splitlines():
        language, statement, question = line.split("\t")
        pairs.setdefault(language, []).append((statement, question))
    return pairs


def unrelated(queries: Sequence[Encoding], passages: Sequence[Encoding]) -> NDArray[np.float32]:
    """Cosines of questions and statements without the pairs that belong together."""
    cosines = np.stack([one.pooled for one in queries]) @ np.stack([one.pooled for one in passages]).T
    return cosines[~np.eye(*cosines.shape, dtype=bool)]


def blended(rows: dict[str, NDArray[np.float32]], script: str) -> NDArray[np.float32]:
    """The mean of a script's languages; for Latin, half of it English."""
    if script == "other":
        return np.mean([blended(rows, known) for known in SCRIPTS[:-1]], axis=0)
    of_script = [row for language, row in rows.items() if SCRIPT_OF.get(language, "latin") == script]
    if script == "latin":
        others = [row for language, row in rows.items() if language != "en" and language not in SCRIPT_OF]
        return (rows["en"] + np.mean(others, axis=0)) / 2
    return np.mean(of_script, axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    encoder = product.ENCODERS[given.model.name](given.model)
    pairs = texts()
    passages = {key: encoder.encode([one for one, _ in value], input_type="passage") for key, value in pairs.items()}
    queries = {key: encoder.encode([one for _, one in value], input_type="query") for key, value in pairs.items()}
    rows = {language: background_row(passages[language], queries[language]) for language in pairs}
    cosines = {a: {b: unrelated(queries[a], passages[b]) for b in pairs} for a in pairs}
    by_query = {a: {b: np.array(found.mean()) for b, found in row.items()} for a, row in cosines.items()}
    levels = {a: np.array([blended(row, script) for script in SCRIPTS]) for a, row in by_query.items()}
    spread = np.mean([found.std() for row in cosines.values() for found in row.values()])
    parts = [
        *(blended({key: row.passages[0] for key, row in rows.items()}, script) for script in SCRIPTS),
        *(blended({key: row.queries[0] for key, row in rows.items()}, script) for script in SCRIPTS),
        *(blended(levels, script) for script in SCRIPTS),
        np.array([spread]),
    ]
    np.concatenate(parts).astype("<f2").tofile(given.out)
    print(f"{len(pairs)} languages; English level {by_query['en']['en']:.3f}, spread {spread:.4f}")


if __name__ == "__main__":
    main()
