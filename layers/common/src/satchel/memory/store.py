"""The memory feature's SQL: messages of one user."""

from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from satchel.memory.messages import Message, NewMessage
from satchel.postgres.database import Database
from satchel.postgres.queries import load_queries

_SQL = load_queries("satchel.memory")


class ConversationStore:
    """The messages of one user.

    Args:
        database: The store.
        user_id: Whose messages; every statement runs as this user.
    """

    def __init__(self, database: Database, user_id: str) -> None:
        self._database = database
        self._user_id = user_id

    def insert_message(self, new: NewMessage, arrived_at: datetime) -> tuple[Message, bool]:
        """The stored message with the id of `new`, and whether this call stored it.

        Args:
            new: The message.
            arrived_at: Stands for the time stamp where the message has none.
        """
        row = {
            "user_id": self._user_id,
            "session_id": new.session_id,
            "message_id": new.message_id,
            "role": new.role,
            "content": new.content,
            "metadata": Jsonb(new.metadata),
            "created_at": new.timestamp or arrived_at,
            "timestamp_given": new.timestamp is not None,
        }
        with self._database.transaction(self._user_id) as connection:
            stored = connection.execute(_SQL["insert_message"], row).fetchone()
            found = stored or connection.execute(_SQL["get_message"], row).fetchone()
        assert found is not None, "an id that is taken belongs to a message"
        return _message(found), stored is not None

    def recent_messages(self, limit: int) -> list[Message]:
        """The newest `limit` messages over all sessions that somebody said, newest first."""
        return self._messages("recent_messages", {"limit": limit})

    def session_page(self, session_id: str, *, before: tuple[datetime, int] | None, limit: int) -> list[Message]:
        """Up to `limit` messages of a session, newest first.

        Args:
            session_id: The session.
            before: Only messages before this place, a (`created_at`, `seq`); None starts at the newest.
            limit: At most this many.
        """
        before_at, before_seq = before or (None, None)
        return self._messages(
            "session_page",
            {"session_id": session_id, "before_at": before_at, "before_seq": before_seq, "limit": limit},
        )

    def content_version(self) -> str:
        """A text that differs after every message saved or removed."""
        row = self._database.fetch_one(self._user_id, _SQL["content_version"])
        assert row is not None
        return f"{row['messages']}.{row['newest']}"

    def _messages(self, statement: str, values: dict[str, Any]) -> list[Message]:
        return [_message(row) for row in self._database.fetch_all(self._user_id, _SQL[statement], **values)]


def _message(row: dict[str, Any]) -> Message:
    return Message(**row)
