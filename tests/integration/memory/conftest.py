from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from satchel.embeddings.encoder import Encoder
from satchel.embeddings.hashing import HashingEncoder
from satchel.memory.indexing import index_message
from satchel.memory.messages import Message, NewMessage
from satchel.memory.saving import save_message
from satchel.memory.search import SearchResult, search
from satchel.memory.search_store import SearchStore
from satchel.memory.store import ConversationStore
from satchel.postgres.database import Database

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass
class History:
    """One user's history: messages go in a minute apart, in the order they are said."""

    database: Database
    user_id: str
    encoder: Encoder
    said: int = 0

    @property
    def index(self) -> SearchStore:
        return SearchStore(self.database, self.user_id)

    def say(
        self,
        content: str,
        *,
        role: Any = "user",
        session: str = "s1",
        speaker: str | None = None,
        at: datetime | None = None,
        step: bool = False,
    ) -> Message:
        self.said += 1
        metadata: dict[str, Any] = {"speaker": speaker} if speaker else {}
        if step:
            metadata["step"] = True
        at = at or NOON + timedelta(minutes=self.said)
        message, _ = save_message(
            NewMessage(session, f"m{self.said}", role, content, metadata, at),
            store=ConversationStore(self.database, self.user_id),
            index=lambda message: index_message(message, store=self.index, encoder=self.encoder),
            clock=lambda: at,
        )
        return message

    def search(self, query: str, **options: Any) -> SearchResult:
        now = NOON + timedelta(days=1)
        return search(self.index, self.encoder, query, **{"clock": lambda: now, "min_score": 0.0, **options})

    def found(self, query: str, **options: Any) -> list[str]:
        return [hit.message.content for hit in self.search(query, **options).hits]


@pytest.fixture
def history(database):
    return History(database, "alice", HashingEncoder())


@pytest.fixture
def other_history(database):
    return History(database, "bob", HashingEncoder())


@pytest.fixture
def noon():
    return NOON
