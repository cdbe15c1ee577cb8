from datetime import UTC, datetime

from satchel.embeddings.hashing import HashingEncoder
from satchel.memory.indexing import BATCH, reindex_all
from satchel.memory.messages import Message


class Waiting:
    """The messages of one user that no encoder has read."""

    def __init__(self, count):
        self.messages = [
            Message("s", str(seq), seq, "user", f"remark {seq}", {}, datetime(2026, 1, 1, tzinfo=UTC), True)
            for seq in range(count)
        ]

    def unindexed_messages(self, *, encoder, limit):
        return self.messages[:limit]

    def write_entry(self, message, entry):
        assert entry.encoder == "hashing"
        self.messages.remove(message)


def test_time_that_runs_short_ends_the_work_between_messages_and_the_next_run_goes_on():
    waiting = {"alice": Waiting(BATCH + 3), "bob": Waiting(5)}
    turns = iter([True] * (BATCH + 1) + [False] + [True] * 7)
    run = {"store_of": waiting.__getitem__, "encoder": HashingEncoder(), "has_time": lambda: next(turns)}
    assert reindex_all(["alice", "bob"], **run) == (BATCH + 1, False)
    assert reindex_all(["alice", "bob"], **run) == (7, True)
    assert not waiting["alice"].messages
    assert not waiting["bob"].messages
