"""Chats of Telegram: whose they are, when codes and updates come more than once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from satchel.agent.links import CODE_LIFETIME, Link, LinkStore, find_link, use_code
from satchel.postgres.database import Database

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ALICES = Link("alice", "context:write")


@pytest.fixture
def code(database):
    LinkStore(database, "alice").add_code("a-code", scopes="context:write", now=NOW)
    return "a-code"


def test_a_code_that_is_sent_again_by_its_chat_is_good_and_by_another_is_not(database, code):
    later = NOW + 2 * CODE_LIFETIME
    assert [use_code(database, code, "501", now=now) for now in (NOW, NOW, later)] == [True] * 3
    assert not use_code(database, code, "502", now=NOW)
    assert (find_link(database, "501"), find_link(database, "502")) == (ALICES, None)


def test_a_used_code_is_not_good_in_a_chat_that_is_somebody_elses(database, code):
    LinkStore(database, "bob").add_code("bobs", scopes="context:read", now=NOW)
    assert use_code(database, "bobs", "601", now=NOW)
    assert use_code(database, code, "501", now=NOW)
    assert not use_code(database, code, "601", now=NOW)
    assert not use_code(database, "bobs", "501", now=NOW)
    assert (find_link(database, "501"), find_link(database, "601")) == (ALICES, Link("bob", "context:read"))


def test_a_code_that_is_sent_twice_at_once_links_and_says_so_twice(database, code, app_dsn):
    doors = [Database(lambda: app_dsn) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda door: use_code(door, code, "501", now=NOW), doors))
    for door in doors:
        door.close()
    assert told == [True] * 4
    assert find_link(database, "501") == ALICES


def test_one_of_the_chats_that_send_a_code_at_once_gets_it(database, code, app_dsn):
    doors = [Database(lambda: app_dsn) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda door, chat: use_code(door, code, str(chat), now=NOW), doors, range(4)))
    for door in doors:
        door.close()
    assert sorted(told) == [False, False, False, True]
    assert [find_link(database, str(chat)) == ALICES for chat in range(4)] == told


def test_a_chat_that_was_let_go_is_not_linked_by_the_code_it_had(database, code):
    assert use_code(database, code, "501", now=NOW)
    LinkStore(database, "alice").unlink()
    assert not use_code(database, code, "501", now=NOW)
    assert find_link(database, "501") is None


def test_a_code_that_has_expired_links_nothing(database, code):
    assert not use_code(database, code, "501", now=NOW + CODE_LIFETIME + timedelta(seconds=1))
    assert find_link(database, "501") is None


def test_a_linked_chat_that_sends_another_code_of_its_user_has_what_that_allows(database, code):
    LinkStore(database, "alice").add_code("wider", scopes="context:read context:write", now=NOW)
    assert use_code(database, code, "501", now=NOW)
    assert use_code(database, "wider", "501", now=NOW)
    assert find_link(database, "501") == Link("alice", "context:read context:write")
