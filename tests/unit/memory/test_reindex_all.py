from satchel.memory import indexing
from satchel.memory.indexing import BATCH, reindex_all


def test_time_that_runs_short_ends_the_work_between_batches_and_says_so(monkeypatch):
    waiting = {"alice": BATCH + 3, "bob": 5}

    def reindex(*, store, encoder, limit):
        batch = min(limit, waiting[store])
        waiting[store] -= batch
        return batch

    monkeypatch.setattr(indexing, "reindex", reindex)
    turns = iter([True, False, True, True, True, True, True])
    run = {"store_of": str, "encoder": None, "has_time": lambda: next(turns)}
    assert reindex_all(["alice", "bob"], **run) == (BATCH, False)
    assert reindex_all(["alice", "bob"], **run) == (8, True)
    assert waiting == {"alice": 0, "bob": 0}
