"""Brings a database to the current schema with numbered SQL files, each applied once and checked ever after."""

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from typing import LiteralString, cast

import psycopg

# One lock for all migrators of a database; the number is arbitrary and only has to be ours.
_ADVISORY_LOCK = 7_283_001
_LEDGER: LiteralString = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    version text PRIMARY KEY,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)
"""


class MigrationError(Exception):
    """The database is of another release: a migration was applied that is not here, or not with this content."""


@dataclass(frozen=True)
class Migration:
    """One numbered file: its name (`0001_foundation`), its SQL and the SHA-256 of that."""

    version: str
    sql: LiteralString
    checksum: str


def read_migrations() -> list[Migration]:
    """The migrations shipped with the package, in the order of their numbers."""
    found: list[Migration] = []
    for entry in files("satchel.postgres").joinpath("migrations").iterdir():
        if entry.name.endswith(".sql"):
            text = entry.read_text(encoding="utf-8")
            checksum = hashlib.sha256(text.encode()).hexdigest()
            found.append(Migration(entry.name.removesuffix(".sql"), cast("LiteralString", text), checksum))
    return sorted(found, key=lambda migration: migration.version)


def migrate(conninfo: str, *, app_password: str | None = None) -> list[str]:
    """Apply what is missing, in order, and return the versions applied now.

    Safe to run from several places at once (an advisory lock) and to repeat. Each file is one transaction.

    Args:
        conninfo: Connects as a role that may create tables, roles and extensions.
        app_password: The password the role `satchel_app` is given; None leaves it as it is (a laptop trusts its
            own socket).

    Raises:
        MigrationError: An applied file has changed, or is none of this release. Nothing was done.
    """
    migrations = read_migrations()
    applied_now: list[str] = []
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", (_ADVISORY_LOCK,))
        connection.execute(_LEDGER)
        applied = dict(connection.execute("SELECT version, checksum FROM schema_migrations").fetchall())
        _check(applied, migrations)
        for migration in migrations:
            if migration.version not in applied:
                with connection.transaction():
                    connection.execute(migration.sql)
                    connection.execute(
                        "INSERT INTO schema_migrations (version, checksum) VALUES (%s, %s)",
                        (migration.version, migration.checksum),
                    )
                applied_now.append(migration.version)
        if app_password is not None:
            _set_password(connection, app_password)
    return applied_now


def _check(applied: dict[str, str], migrations: list[Migration]) -> None:
    shipped = {migration.version: migration.checksum for migration in migrations}
    for version, checksum in sorted(applied.items()):
        if version not in shipped:
            raise MigrationError(f"migration {version} is none of this release; a newer one has used the database")
        if shipped[version] != checksum:
            raise MigrationError(f"migration {version} was applied with another content than the one shipped")


def _set_password(connection: psycopg.Connection, password: str) -> None:
    from psycopg import sql  # noqa: PLC0415 - only a deployment needs it

    connection.execute(sql.SQL("ALTER ROLE satchel_app PASSWORD {}").format(sql.Literal(password)))
