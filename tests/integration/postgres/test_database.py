import psycopg
import pytest

from satchel.errors import ConflictError, InvalidInputError, UnavailableError
from satchel.postgres.database import Database
from satchel.postgres.migrate import MigrationError, migrate, read_migrations

COUNT = "SELECT count(*) AS n FROM conversation_history"
INSERT = """
INSERT INTO conversation_history (user_id, session_id, message_id, role, content, created_at, timestamp_given)
VALUES (%s, 's', 'm', 'user', 'hello 안녕 🙂', now(), false)
"""


def count(database, user_id):
    with database.transaction(user_id) as connection:
        return connection.execute(COUNT).fetchone()["n"]


def test_a_user_sees_their_own_rows_and_nobody_elses_even_without_a_predicate(database):
    with database.transaction("alice") as connection:
        connection.execute(INSERT, ("alice",))
    assert (count(database, "alice"), count(database, "bob"), count(database, "")) == (1, 0, 0)


def test_a_row_cannot_be_written_for_another_user(database):
    with pytest.raises(psycopg.errors.InsufficientPrivilege), database.transaction("bob") as connection:
        connection.execute(INSERT, ("alice",))
    assert count(database, "alice") == 0


def test_a_statement_by_itself_is_committed_and_runs_as_the_user_that_it_names(database):
    named = INSERT.replace("%s", "%(user_id)s", 1)
    database.run("alice", named)
    for user_id, ids in [("alice", [{"message_id": "m"}]), ("bob", [])]:
        asked = "SELECT message_id FROM conversation_history WHERE user_id = %(user_id)s AND role = %(role)s"
        assert database.fetch_all(user_id, asked, role="user") == ids
        assert database.fetch_one(user_id, asked, role="user") == (ids[0] if ids else None)


def test_a_connection_carries_no_user_over_to_its_next_transaction(database, app_dsn):
    with database.transaction("alice") as connection:
        connection.execute(INSERT, ("alice",))
        inside = connection
    assert inside.execute("SELECT coalesce(current_setting('app.user_id', true), '') AS u").fetchone()["u"] == ""
    assert inside.execute(COUNT).fetchone()["n"] == 0


def test_every_table_with_a_user_is_under_forced_row_level_security(admin_dsn):
    with psycopg.connect(admin_dsn) as connection:
        rows = connection.execute(
            """
            SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity AS walled,
                   EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polwithcheck IS NOT NULL) AS policy
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped
            WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p')
            """
        ).fetchall()
    assert len(rows) >= 3
    assert [name for name, walled, policy in rows if not (walled and policy)] == []


def test_the_application_cannot_step_over_the_wall(database):
    with database.transaction("alice") as connection:
        role = connection.execute(
            "SELECT rolbypassrls OR rolsuper AS over FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
    assert role["over"] is False


def test_an_error_inside_a_transaction_writes_nothing_and_the_next_one_works(database):
    with pytest.raises(ConflictError), database.transaction("alice") as connection:
        connection.execute(INSERT, ("alice",))
        raise ConflictError("no")
    assert count(database, "alice") == 0


def test_a_swallowed_failure_is_never_taken_for_a_commit(database):
    with pytest.raises(psycopg.errors.InFailedSqlTransaction), database.transaction("alice") as connection:
        connection.execute(INSERT, ("alice",))
        try:
            connection.execute(INSERT, ("alice",))
        except psycopg.errors.UniqueViolation:
            pass
    assert count(database, "alice") == 0


def test_a_connection_that_died_while_we_were_frozen_is_replaced(database, admin_dsn):
    assert count(database, "alice") == 0
    with psycopg.connect(admin_dsn, autocommit=True) as admin:
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'satchel_app'")
    assert count(database, "alice") == 0


def test_a_connection_that_dies_inside_a_transaction_is_an_unavailable_store_and_then_recovers(database, admin_dsn):
    with pytest.raises(UnavailableError), database.transaction("alice") as connection:
        connection.execute(INSERT, ("alice",))
        with psycopg.connect(admin_dsn, autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'satchel_app'")
        connection.execute(COUNT)
    assert count(database, "alice") == 0


def test_a_store_that_is_not_there_is_unavailable(tmp_path):
    with pytest.raises(UnavailableError):
        Database(lambda: f"postgresql://satchel_app@/none?host={tmp_path}").ping()


def test_a_value_out_of_range_is_bad_input(database):
    with pytest.raises(InvalidInputError), database.transaction("alice") as connection:
        connection.execute("SELECT 1e400::float8")


def test_a_transaction_that_could_not_begin_is_not_left_open(database, admin_dsn):
    with pytest.raises(InvalidInputError), database.transaction("a\0b"):
        pass
    query = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'satchel_app' AND state LIKE 'idle in transaction%'"
    with psycopg.connect(admin_dsn) as connection:
        assert connection.execute(query).fetchone() == (0,)
    with database.transaction("alice") as connection:
        assert connection.execute("SELECT current_setting('app.user_id')").fetchone() == {"current_setting": "alice"}


def test_migrating_again_changes_nothing(admin_dsn):
    assert migrate(admin_dsn) == []


def test_a_changed_migration_is_refused(admin_dsn):
    version = read_migrations()[0].version
    with psycopg.connect(admin_dsn, autocommit=True) as connection:
        connection.execute("UPDATE schema_migrations SET checksum = 'x' WHERE version = %s", (version,))
    with pytest.raises(MigrationError, match=version):
        migrate(admin_dsn)


def test_a_database_that_a_newer_release_has_used_is_refused(admin_dsn):
    with psycopg.connect(admin_dsn, autocommit=True) as connection:
        connection.execute("INSERT INTO schema_migrations (version, checksum) VALUES ('9999_later', 'x')")
    with pytest.raises(MigrationError, match="9999_later is none of this release"):
        migrate(admin_dsn)
