from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from satchel.errors import ConflictError
from satchel.memory.messages import NewMessage
from satchel.memory.saving import save_message
from satchel.memory.store import ConversationStore
from satchel.postgres.database import Database

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def new(content="안녕하세요 🙂", *, message_id="m1", role="user", timestamp=None, **metadata):
    return NewMessage("s1", message_id, role, content, metadata, timestamp)


@pytest.fixture
def save(database):
    def run(message, *, user_id="alice", at=NOON):
        return save_message(message, store=ConversationStore(database, user_id), index=lambda _: None, clock=lambda: at)

    return run


def test_a_message_comes_back_as_it_was_saved(save, database):
    message, duplicate = save(new(speaker="Mina", price=1.5))
    assert (message.content, message.metadata, message.created_at) == (
        "안녕하세요 🙂",
        {"speaker": "Mina", "price": 1.5},
        NOON,
    )
    assert not duplicate
    assert ConversationStore(database, "alice").recent_messages(10) == [message]


def test_the_same_message_again_is_the_first_one(save):
    first, _ = save(new(timestamp=NOON))
    again, duplicate = save(new(timestamp=NOON), at=NOON + timedelta(hours=1))
    assert (again, duplicate) == (first, True)


@pytest.mark.parametrize(("first_at", "again_at"), [(None, NOON + timedelta(days=1)), (NOON, None), (None, None)])
def test_a_time_stamp_that_was_left_out_is_not_compared(save, first_at, again_at):
    first, _ = save(new(timestamp=first_at))
    assert save(new(timestamp=again_at), at=NOON + timedelta(hours=1)) == (first, True)


@pytest.mark.parametrize(
    "other",
    [
        new("another text"),
        new(role="assistant"),
        new(extra=1),
        new(timestamp=NOON + timedelta(seconds=1)),
    ],
)
def test_another_message_under_a_taken_id_is_a_conflict_and_changes_nothing(save, database, other):
    first, _ = save(new(timestamp=NOON))
    with pytest.raises(ConflictError) as refused:
        save(other)
    assert refused.value.field == "message_id"
    assert ConversationStore(database, "alice").recent_messages(10) == [first]


def test_two_users_may_use_the_same_id(save):
    save(new("mine"))
    theirs, duplicate = save(new("theirs"), user_id="bob")
    assert (theirs.content, duplicate) == ("theirs", False)


def test_a_message_is_stored_even_when_indexing_dies(database):
    def die(_message):
        raise KeyboardInterrupt

    store = ConversationStore(database, "alice")
    with pytest.raises(KeyboardInterrupt):
        save_message(new(), store=store, index=die, clock=lambda: NOON)
    assert [message.content for message in store.recent_messages(5)] == ["안녕하세요 🙂"]
    indexed = []
    _, duplicate = save_message(new(), store=store, index=indexed.append, clock=lambda: NOON)
    assert duplicate
    assert [message.content for message in indexed] == ["안녕하세요 🙂"]


def test_many_writers_of_one_id_store_one_message(app_dsn):
    def write(_):
        database = Database(lambda: app_dsn)
        try:
            store = ConversationStore(database, "alice")
            return save_message(new(), store=store, index=lambda _: None, clock=lambda: NOON)
        finally:
            database.close()

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(write, range(16)))
    assert {message.seq for message, _ in results} == {results[0][0].seq}
    assert sum(not duplicate for _, duplicate in results) == 1


def test_a_session_is_paged_newest_first_without_gaps_or_repeats(save, database):
    for number in range(7):
        save(new(f"text {number}", message_id=f"m{number}", timestamp=NOON + timedelta(minutes=number // 2)))
    store = ConversationStore(database, "alice")
    seen, before = [], None
    while page := store.session_page("s1", before=before, limit=3):
        seen += [message.content for message in page]
        before = (page[-1].created_at, page[-1].seq)
    assert seen == [f"text {number}" for number in reversed(range(7))]


def test_the_content_version_changes_with_every_message(save, database):
    store = ConversationStore(database, "alice")
    versions = [store.content_version()]
    for number in range(3):
        save(new(message_id=f"m{number}"))
        versions.append(store.content_version())
    save(new(message_id="m1"))
    assert len(set(versions)) == 4
    assert store.content_version() == versions[-1]


def test_the_newest_messages_are_those_that_somebody_said(history):
    question = history.say("고양이는 뭘 싫어해?")
    history.say("[calls search_conversation]", role="assistant", step=True)
    history.say("[search_conversation answered]", role="tool", step=True)
    history.say("{}", role="tool")
    answer = history.say("오이요 🥒", role="assistant")
    assert ConversationStore(history.database, "alice").recent_messages(2) == [answer, question]
