"""Jobs in the store: claimed by one, given back, asked for again, read by their owner."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from satchel.errors import InvalidInputError, NotFoundError, UnavailableError
from satchel.jobs.jobs import MAX_ATTEMPTS, read_job, run_job
from satchel.jobs.store import JobStore

NOW = datetime(2025, 6, 1, tzinfo=UTC)


class Queue:
    """The jobs of one user, on a clock that stands still until it is moved."""

    def __init__(self, database, user_id="alice"):
        self.store = JobStore(database, user_id)
        self.now = NOW
        self.sent = []

    def submit(self, job_id="j", **request):
        given = {"kind": "backtest", "digest": json.dumps(request), "request": request, "now": self.now}
        return self.store.submit(job_id, **given)

    def run(self, work=lambda job: {"id": job.job_id}, *, claimant="one", job_id="j"):
        return run_job(
            job_id,
            store=self.store,
            claimant=claimant,
            seconds=300,
            clock=lambda: self.now,
            work=work,
            tell=lambda error: {"message": str(error)},
        )

    def read(self, job_id="j"):
        def send(job):
            self.sent.append(job.job_id)

        return json.loads(read_job(job_id, store=self.store, clock=lambda: self.now, send=send))


@pytest.fixture
def queue(database):
    return Queue(database)


def failing(error):
    def work(job):
        raise error

    return work


def test_a_job_runs_once_and_says_what_came_out(queue):
    queue.submit()
    assert queue.read()["status"] == "queued"
    assert queue.run()
    assert not queue.run(claimant="two")
    read = queue.read()
    assert (read["status"], read["result"], read["error"]) == ("done", {"id": "j"}, None)


def test_the_same_request_under_way_is_the_same_job_and_afterwards_a_new_one(queue):
    assert queue.submit("a", bars=1)[0].job_id == "a"
    again, made = queue.submit("b", bars=1)
    assert (again.job_id, made) == ("a", False)
    assert queue.submit("c", bars=2)[1]
    queue.run(job_id="a")
    assert queue.submit("d", bars=1)[0].job_id == "d"


def test_while_one_runs_it_another_does_not(queue):
    queue.submit()
    inner = []
    assert queue.run(lambda _job: {"other": inner.append(queue.run(claimant="two"))})
    assert inner == [False]


def test_a_job_whose_worker_died_is_queued_again_by_being_asked_for_once(queue):
    queue.submit()
    with pytest.raises(KeyboardInterrupt):
        queue.run(failing(KeyboardInterrupt()))
    assert (queue.read()["status"], queue.sent) == ("running", [])
    queue.now += timedelta(seconds=306)
    queue.read()
    queue.read()
    assert queue.sent == ["j"]
    assert queue.run(claimant="two")
    assert queue.read()["status"] == "done"


def test_a_repeated_invocation_goes_on_at_once(queue):
    queue.submit()
    with pytest.raises(KeyboardInterrupt):
        queue.run(failing(KeyboardInterrupt()))
    assert not queue.run(claimant="two")
    assert queue.run(claimant="one")


def test_a_job_that_never_reached_a_worker_is_sent_again(queue):
    queue.submit()
    queue.read()
    queue.now += timedelta(seconds=61)
    queue.read()
    assert queue.sent == ["j"]


def test_a_refusal_ends_the_job_with_its_reason(queue):
    queue.submit()
    assert queue.run(failing(InvalidInputError("the strategy fails")))
    assert (queue.read()["status"], queue.read()["error"]) == ("failed", {"message": "the strategy fails"})


def test_what_is_away_is_tried_three_times(queue):
    queue.submit()
    away = failing(UnavailableError("away", retry_after_s=1))
    for _ in range(MAX_ATTEMPTS - 1):
        with pytest.raises(UnavailableError):
            queue.run(away)
        assert queue.read()["status"] == "queued"
    assert queue.run(away)
    assert queue.read()["status"] == "failed"


def test_a_worker_that_dies_each_time_is_given_up(queue):
    queue.submit()
    for _ in range(MAX_ATTEMPTS):
        with pytest.raises(KeyboardInterrupt):
            queue.run(failing(KeyboardInterrupt()))
    assert queue.run()
    assert "never ended" in queue.read()["error"]["message"]


def test_whoever_lost_a_job_changes_nothing(queue):
    queue.submit()

    def overtaken(job):
        queue.now += timedelta(seconds=306)
        queue.run(lambda _job: {"by": "two"}, claimant="two")
        return {"by": "one"}

    queue.run(overtaken)
    assert queue.read()["result"] == {"by": "two"}


def test_nobody_reads_or_runs_anothers_job(queue, database):
    queue.submit()
    bob = Queue(database, "bob")
    with pytest.raises(NotFoundError):
        bob.read()
    assert not bob.run()
    assert queue.read()["status"] == "queued"
