import importlib
import json
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from satchel.postgres.migrate import read_migrations
from tests.conftest import LambdaTestContext, forget_wiring

EVENT = json.loads(Path("events/database_migrator.json").read_text(encoding="utf-8"))


@pytest.fixture
def empty_database(cluster, monkeypatch):
    name = "migrated_by_function"
    with psycopg.connect(cluster.dsn("postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        monkeypatch.setenv("SATCHEL_DATABASE_ADMIN_URL", cluster.dsn(name))
        monkeypatch.setenv("SATCHEL_DATABASE_URL", cluster.dsn(name, "satchel_app"))
        forget_wiring()
        yield cluster.dsn(name)
        forget_wiring()
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def migrate_by_event():
    return importlib.import_module("functions.database_migrator.app").handler(EVENT, LambdaTestContext())


def test_the_golden_event_brings_an_empty_database_to_the_schema_and_repeats_safely(empty_database):
    versions = [migration.version for migration in read_migrations()]
    assert migrate_by_event() == {"Status": "SUCCESS", "Data": {"Applied": ",".join(versions)}}
    assert migrate_by_event() == {"Status": "SUCCESS", "Data": {"Applied": ""}}


def test_a_migration_that_was_changed_after_it_was_applied_is_named(empty_database):
    migrate_by_event()
    with psycopg.connect(empty_database) as connection:
        connection.execute("UPDATE schema_migrations SET checksum = 'another' WHERE version = '0001_foundation'")
    answer = migrate_by_event()
    assert answer["Status"] == "FAILED"
    assert "0001_foundation" in answer["Reason"]
