"""Bytes that a saved message takes in the database, by table: rows, their indexes, and what is kept out of line.

usage: storage.py FILE.jsonl [--encoder minilm] [--models DIR]

Saves every conversation through the product's own code; what the empty tables took is not counted. Last line: JSON.
"""

import argparse
import json
from pathlib import Path

import product
import psycopg
from run import MODELS

SIZES = """
SELECT relname, pg_relation_size(oid), pg_indexes_size(oid),
       coalesce(pg_total_relation_size(nullif(reltoastrelid, 0)), 0), pg_total_relation_size(oid)
FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
"""
COLUMNS = ("rows", "indexes", "out of line", "total")


def sizes(dsn: str) -> dict[str, tuple[int, ...]]:
    """Bytes of each table, as in `COLUMNS`; the total has the maps of free and visible pages too."""
    with psycopg.connect(dsn) as connection:
        return {name: tuple(numbers) for name, *numbers in connection.execute(SIZES)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--encoder", choices=product.ENCODERS, default="e5-small")
    parser.add_argument("--models", type=Path, default=MODELS, help="made by `python -m satchel.embeddings.build`")
    given = parser.parse_args()
    conversations = product.read_conversations(given.file)
    encoder = product.ENCODERS[given.encoder](given.models / given.encoder)
    with product.running_database() as (database, dsn):
        product.analyze(dsn)
        empty = sizes(dsn)
        for conversation in conversations:
            product.save_conversation(database, conversation, encoder)
        product.analyze(dsn)
        full = sizes(dsn)
    texts = [message["content"].encode() for conversation in conversations for message in conversation["messages"]]
    grown = {
        name: [round((after - before) / len(texts)) for before, after in zip(empty[name], full[name], strict=True)]
        for name in full
        if full[name] != empty[name]
    }
    grown = dict(sorted(grown.items(), key=lambda table: -table[1][-1]))
    text = round(sum(map(len, texts)) / len(texts))
    print(f"{len(texts)} messages of {text} bytes of text\n{'':24s}" + "".join(f"{name:>12s}" for name in COLUMNS))
    for name, columns in grown.items():
        print(f"{name:24s}" + "".join(f"{number:12,d}" for number in columns))
    total = sum(columns[-1] for columns in grown.values())
    print(json.dumps({"messages": len(texts), "text_bytes": text, "bytes_per_message": total, "tables": grown}))


if __name__ == "__main__":
    main()
