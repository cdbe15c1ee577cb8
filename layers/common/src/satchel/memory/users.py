"""Going through all users, for work that nobody asked for: the one query that is not one user's."""

from collections.abc import Iterator

from satchel.postgres.database import Database
from satchel.postgres.queries import load_queries

_SQL = load_queries("satchel.memory")
_NOBODY = ""


def all_users(database: Database) -> Iterator[str]:
    """Every user with messages, in the order of their ids; each is looked up when it is asked for.

    Raises:
        UnavailableError: The store does not answer.
    """
    user_id: str | None = _NOBODY
    while (user_id := _user_after(database, user_id)) is not None:
        yield user_id


def _user_after(database: Database, user_id: str) -> str | None:
    with database.transaction(_NOBODY) as connection:
        connection.execute(_SQL["become_worker"])
        row = connection.execute(_SQL["user_after"], {"user_id": user_id}).fetchone()
    return row["user_id"] if row else None
