"""The one place that opens a transaction, and opens it as one user.

Every user table is under forced row-level security that compares `user_id` with the setting `app.user_id`.
`Database.transaction` sets it for that transaction only; a connection that goes back to its next user carries
nothing over, and a transaction without it sees no rows.
"""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg
from psycopg.rows import DictRow, TupleRow, dict_row, tuple_row

from satchel.errors import InvalidInputError, UnavailableError

_CONNECT_TIMEOUT_S = 5
# Below API Gateway's 30 s, so that the caller hears from us and not from the gateway.
_STATEMENT_TIMEOUT_MS = 25_000
_STORE_IS_AWAY = "the store does not answer; try again"

Connection = psycopg.Connection[DictRow]


class Database:
    """One connection per execution environment, opened when first needed.

    A Lambda is frozen between calls, so the connection may have died unseen: the first statement of a
    transaction doubles as the check, and a transaction that fails there is opened once more on a new connection.

    Args:
        conninfo: Gives the connection string when a connection is opened (it may have to be fetched).
    """

    def __init__(self, conninfo: Callable[[], str]) -> None:
        self._conninfo = conninfo
        self._connection: Connection | None = None

    @contextmanager
    def transaction(self, user_id: str) -> Generator[Connection]:
        """A transaction that sees and writes the rows of `user_id` alone; commits at the end, rolls back on error.

        Raises:
            UnavailableError: The store does not answer. Nothing was committed, or, when it went away in the middle
                of the commit, repeating the same write is safe.
            InvalidInputError: A value cannot be represented in the store (a number out of its range, say).
        """
        try:
            connection = self._begin(user_id)
            try:
                yield connection
            except BaseException:
                if not connection.closed:
                    connection.execute("ROLLBACK")
                raise
            self._commit(connection)
        except psycopg.DataError as error:
            raise InvalidInputError("a value is outside what can be stored") from error
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise UnavailableError(_STORE_IS_AWAY) from error

    def fetch_one(self, user_id: str, statement: LiteralString, **values: Any) -> DictRow | None:
        """The first row of a statement that is a transaction by itself; None where it has none.

        Args:
            user_id: Whose; the statement's `user_id` as well.
            statement: Of a feature's `queries.sql`.
            **values: Its other parameters.

        Raises:
            UnavailableError: As in `transaction`.
            InvalidInputError: As there.
        """
        with self.transaction(user_id) as connection:
            return connection.execute(statement, {"user_id": user_id, **values}).fetchone()

    def fetch_all(self, user_id: str, statement: LiteralString, **values: Any) -> list[DictRow]:
        """All rows of a statement; see `fetch_one`."""
        with self.transaction(user_id) as connection:
            return connection.execute(statement, {"user_id": user_id, **values}).fetchall()

    def run(self, user_id: str, statement: LiteralString, **values: Any) -> None:
        """Run a statement that answers nothing; see `fetch_one`."""
        with self.transaction(user_id) as connection:
            connection.execute(statement, {"user_id": user_id, **values})

    def ping(self) -> None:
        """Return when the store answers.

        Raises:
            UnavailableError: It does not.
        """
        with self.transaction(""):
            pass

    def close(self) -> None:
        """Close the connection, if one is open; the next transaction opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _begin(self, user_id: str) -> Connection:
        if self._connection is not None and not self._connection.closed:
            try:
                return self._begin_on(self._connection, user_id)
            except (psycopg.OperationalError, psycopg.InterfaceError):
                self.close()
        self._connection = self._connect()
        return self._begin_on(self._connection, user_id)

    def _connect(self) -> Connection:
        return Connection.connect(
            self._conninfo(),
            autocommit=True,
            connect_timeout=_CONNECT_TIMEOUT_S,
            options=f"-c statement_timeout={_STATEMENT_TIMEOUT_MS} -c timezone=UTC",
            row_factory=dict_row,
        )

    @staticmethod
    def _begin_on(connection: Connection, user_id: str) -> Connection:
        try:
            with connection.pipeline():
                connection.execute("BEGIN")
                connection.execute("SELECT set_config('app.user_id', %s, true)", (user_id,))
        except psycopg.Error:
            connection.close()  # whatever has begun, the next transaction is none of its parts
            raise
        return connection

    @staticmethod
    def _commit(connection: Connection) -> None:
        # After a failed statement that somebody swallowed, PostgreSQL answers COMMIT with ROLLBACK: never call
        # that saved.
        if connection.execute("COMMIT").statusmessage != "COMMIT":
            raise psycopg.errors.InFailedSqlTransaction("the transaction had failed and was rolled back")


def bare_rows(connection: Connection, statement: LiteralString, values: Mapping[str, Any]) -> psycopg.Cursor[TupleRow]:
    """Run a statement for rows without names, in binary form: where hundreds are read, these cost the most."""
    return connection.cursor(binary=True, row_factory=tuple_row).execute(statement, values)
