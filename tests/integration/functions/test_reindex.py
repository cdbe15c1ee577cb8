import json
from pathlib import Path

import psycopg
import pytest

from satchel.api.job import JobFailedError
from satchel.memory.users import all_users
from tests.conftest import direct

EVENT = json.loads(Path("events/reindex.json").read_text(encoding="utf-8"))


@pytest.fixture
def forget_vectors(admin_dsn):
    """Leaves messages as they are when the encoder failed: saved, found by words, without vectors."""

    def forget():
        with psycopg.connect(admin_dsn) as connection:
            connection.execute("DELETE FROM message_passages")

    return forget


def save(invoke, user_id, content):
    saved = invoke("save_message", direct(user_id, arguments={"role": "user", "content": content}))
    return saved["structuredContent"]["message"]["message_id"]


def test_the_golden_event_embeds_what_was_left_of_every_user_and_then_finds_nothing_to_do(
    invoke, forget_vectors, admin_dsn
):
    for user_id in ("alice", "보라", "🦊"):
        save(invoke, user_id, "stop loss at 2 %")
    forget_vectors()
    assert invoke("reindex", EVENT, remaining_ms=600_000) == {"messages": 3, "complete": True}
    assert invoke("reindex", EVENT, remaining_ms=600_000) == {"messages": 0, "complete": True}
    with psycopg.connect(admin_dsn) as connection:
        rows = connection.execute('SELECT user_id FROM message_passages ORDER BY user_id COLLATE "C"').fetchall()
    assert rows == [("alice",), ("보라",), ("🦊",)]


def test_users_are_found_by_a_role_that_can_read_nothing_of_theirs(invoke, database):
    save(invoke, "alice", "mine")
    save(invoke, "bob", "his")
    assert list(all_users(database)) == ["alice", "bob"]
    with pytest.raises(psycopg.errors.InsufficientPrivilege), database.transaction("") as connection:
        connection.execute("SET LOCAL ROLE satchel_worker")
        connection.execute("SELECT content FROM conversation_history")
    with database.transaction("") as connection:
        assert connection.execute("SELECT user_id FROM conversation_history").fetchall() == []


def test_a_failure_is_counted_by_lambda_and_told_without_content(invoke, admin_dsn):
    save(invoke, "alice", "4417-BLUE")
    with psycopg.connect(admin_dsn) as connection:
        connection.execute("DELETE FROM message_passages")
        connection.execute("REVOKE INSERT ON message_terms FROM satchel_app")
    with pytest.raises(JobFailedError) as failed:
        invoke("reindex", EVENT, remaining_ms=600_000)
    assert str(failed.value) == "reindex: internal"
