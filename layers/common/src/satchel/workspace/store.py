"""The workspace feature's SQL: what the user's client last synchronised."""

from dataclasses import dataclass
from datetime import datetime

from satchel.errors import PreconditionFailedError
from satchel.postgres.database import Database
from satchel.postgres.queries import load_queries

_SQL = load_queries("satchel.workspace")
_EMPTY = '{"currentChart" : null, "watchlist" : [], "openPositions" : [], "recentAlerts" : []}'


@dataclass(frozen=True)
class Workspace:
    """A workspace at one version.

    Attributes:
        version: 0 where nothing is stored; rises by one with each write.
        text: The document's object as JSON, numbers as they were sent.
    """

    version: int
    text: str


class WorkspaceStore:
    """The workspace of one user.

    Args:
        database: The store.
        user_id: Whose; every statement runs as this user.
    """

    def __init__(self, database: Database, user_id: str) -> None:
        self._database = database
        self._user_id = user_id

    def workspace(self) -> Workspace:
        """The stored workspace; an empty one at version 0 where there is none."""
        row = self._database.fetch_one(self._user_id, _SQL["get_workspace"])
        return Workspace(row["version"], row["state"]) if row else Workspace(0, _EMPTY)

    def put_workspace(self, text: str, *, expected_version: int | None, now: datetime) -> Workspace:
        """Replace the workspace and return it with its new version.

        Args:
            text: The document's object as JSON, checked.
            expected_version: Write only over this version; None writes over any.
            now: Kept as the time of the write.

        Raises:
            PreconditionFailedError: Another version is stored; nothing was written.
        """
        stored = self._database.fetch_one(
            self._user_id, _SQL["put_workspace"], state=text, expected=expected_version, now=now
        )
        if stored is None:
            raise PreconditionFailedError("the workspace has changed since that version", field="If-Match")
        return Workspace(stored["version"], stored["state"])
