"""In Aurora the owner of the database is no superuser: what migrations may not count on."""

import psycopg
import pytest
from psycopg import sql

from satchel.postgres.database import Database
from satchel.postgres.migrate import migrate, read_migrations

OWNER = "owner_like_in_aurora"
NAME = "owned_like_in_aurora"


@pytest.fixture
def owner_dsn(cluster):
    """An empty database whose owner may create roles, as the master user of Aurora may, and little else."""
    with psycopg.connect(cluster.dsn("postgres"), autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE ROLE {} LOGIN CREATEROLE NOSUPERUSER NOBYPASSRLS").format(sql.Identifier(OWNER))
        )
        # There its own migration created them; here another database of the cluster did before.
        connection.execute(
            sql.SQL("GRANT satchel_app, satchel_worker TO {} WITH ADMIN OPTION").format(sql.Identifier(OWNER))
        )
        connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(NAME), sql.Identifier(OWNER)))
        yield cluster.dsn(NAME, OWNER)
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(NAME)))
        connection.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(OWNER)))
        connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(OWNER)))


def test_an_owner_without_superuser_migrates_and_sees_nobodys_rows(owner_dsn, cluster):
    with psycopg.connect(cluster.dsn(NAME), autocommit=True) as connection:
        # rds_superuser may create extensions that are not trusted; a plain owner may not.
        connection.execute("CREATE EXTENSION vector")
    assert migrate(owner_dsn) == [migration.version for migration in read_migrations()]

    database = Database(lambda: cluster.dsn(NAME, "satchel_app"))
    with database.transaction("alice") as connection:
        connection.execute(
            "INSERT INTO user_preferences (user_id, version, preferences, updated_at) VALUES ('alice', 1, '{}', now())"
        )
    database.close()
    with psycopg.connect(owner_dsn) as connection:
        assert connection.execute("SELECT count(*) FROM user_preferences").fetchone() == (0,)
