"""The ledger in PostgreSQL, under row-level security like everything of a user."""

from collections.abc import Iterable, Mapping

from psycopg.types.json import Jsonb

from satchel.llm.ledger import Record
from satchel.postgres.database import Connection, Database
from satchel.postgres.queries import load_queries
from satchel.postgres.text import storable_json

_SQL = load_queries("satchel.llm")


class LedgerStore:
    """The ledger of one user.

    Args:
        database: The store.
        user_id: Whose records; every statement runs as this user.
    """

    def __init__(self, database: Database, user_id: str) -> None:
        self._database = database
        self._user_id = user_id

    def find(self, keys: Iterable[str]) -> dict[str, Record]:
        """See `Ledger.find`."""
        with self._database.transaction(self._user_id) as connection:
            return self._find(connection, list(keys))

    def keep(self, records: Mapping[str, Record], *, replace: bool) -> dict[str, Record]:
        """See `Ledger.keep`. Keys are written in order, so that two writers never wait for each other."""
        with self._database.transaction(self._user_id) as connection:
            for key, record in sorted(records.items()):
                answer = None if record.answer is None else Jsonb(storable_json(record.answer, field="answer"))
                row = {"user_id": self._user_id, "key": key, "replace": replace, **record._asdict(), "answer": answer}
                connection.execute(_SQL["keep_record"], row)
            return self._find(connection, list(records))

    def _find(self, connection: Connection, keys: list[str]) -> dict[str, Record]:
        rows = connection.execute(_SQL["find_records"], {"user_id": self._user_id, "keys": keys}).fetchall()
        return {row.pop("question_hash"): Record(**row) for row in rows}
