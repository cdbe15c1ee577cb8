"""The profile feature's SQL: preferences of one user, and the messages habits are read from."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from satchel.errors import PreconditionFailedError
from satchel.postgres.database import Database
from satchel.postgres.queries import load_queries
from satchel.profile.preferences import Preferences

_SQL = load_queries("satchel.profile")


@dataclass(frozen=True)
class OwnMessage:
    """A message the user wrote."""

    session_id: str
    message_id: str
    content: str


class ProfileStore:
    """The preferences of one user.

    Args:
        database: The store.
        user_id: Whose; every statement runs as this user.
    """

    def __init__(self, database: Database, user_id: str) -> None:
        self._database = database
        self._user_id = user_id

    def preferences(self) -> Preferences:
        """The stored preferences; version 0 where there are none."""
        row = self._database.fetch_one(self._user_id, _SQL["get_preferences"])
        return _preferences(row) if row else Preferences()

    def put_preferences(self, new: Preferences, *, expected_version: int | None, now: datetime) -> Preferences:
        """Replace the preferences and return them with their new version.

        Args:
            new: What to store; its version is ignored.
            expected_version: Write only over this version; None writes over any.
            now: Kept as the time of the write.

        Raises:
            PreconditionFailedError: Another version is stored; nothing was written.
        """
        stored = self._database.fetch_one(
            self._user_id,
            _SQL["put_preferences"],
            preferences=Jsonb(new.values),
            custom_prompt=new.custom_prompt,
            expected=expected_version,
            now=now,
        )
        if stored is None:
            raise PreconditionFailedError("the preferences have changed since that version", field="If-Match")
        return _preferences(stored)

    def own_messages(self, limit: int) -> list[OwnMessage]:
        """The newest `limit` messages the user wrote, oldest first."""
        rows = self._database.fetch_all(self._user_id, _SQL["own_messages"], limit=limit)
        return [OwnMessage(**row) for row in reversed(rows)]


def _preferences(row: dict[str, Any]) -> Preferences:
    return Preferences(row["version"], row["preferences"], row["custom_prompt"])
