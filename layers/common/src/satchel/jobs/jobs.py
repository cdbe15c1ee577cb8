"""A job as a value, and the rules of who may run it and when it is asked for again."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

from satchel.errors import NotFoundError, SatchelError, UnavailableError
from satchel.timestamps import format_timestamp

Status = Literal["queued", "running", "done", "failed"]
MAX_ATTEMPTS = 3
# Whoever runs a job is given this much longer than its time before another may take over.
_LEASE_RESERVE = timedelta(seconds=5)
# A queued job that nobody has begun by then was lost on the way.
LOST_AFTER = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Job:
    """Work under way.

    Attributes:
        job_id: Its id.
        kind: What is to be done, such as `backtest`.
        request: What it is to be done with, as JSON data.
        status: How far it is.
        attempts: How often somebody has begun.
        lease_until: Until when whoever runs it is trusted to be alive.
        result: What came out: ids and places, as JSON data.
        error: Why it failed: `code`, `field`, `message`.
        created_at: When it was asked for.
        updated_at: When its status last changed.
    """

    job_id: str
    kind: str
    request: dict[str, Any]
    status: Status
    attempts: int
    lease_until: datetime | None
    result: dict[str, Any] | None
    error: dict[str, Any] | None
    created_at: datetime
    updated_at: datetime

    def is_abandoned(self, now: datetime) -> bool:
        """Whether nobody works on it although somebody should."""
        if self.status == "running":
            return self.lease_until is not None and self.lease_until < now
        return self.status == "queued" and self.updated_at + LOST_AFTER < now


class Jobs(Protocol):
    """Where the jobs of one user are."""

    def get(self, job_id: str) -> Job | None:
        """A job."""
        ...

    def claim(self, job_id: str, *, claimant: str, lease_until: datetime, now: datetime) -> Job | None:
        """The job, now the claimant's to run; None where it is finished or somebody else runs it."""
        ...

    def give_back(self, job_id: str, *, claimant: str, now: datetime) -> None:
        """Let somebody else run it."""
        ...

    def finish(
        self,
        job_id: str,
        *,
        claimant: str,
        result: Mapping[str, Any] | None,
        error: Mapping[str, Any] | None,
        now: datetime,
    ) -> None:
        """End it; a claimant that has lost it in the meantime changes nothing."""
        ...

    def touch(self, job_id: str, now: datetime) -> bool:
        """Whether this call is the one that asks for an abandoned job again."""
        ...


def run_job(
    job_id: str,
    *,
    store: Jobs,
    claimant: str,
    seconds: float,
    clock: Callable[[], datetime],
    work: Callable[[Job], Mapping[str, Any]],
    tell: Callable[[Exception], Mapping[str, Any]],
) -> bool:
    """Run a job unless it is finished or somebody runs it.

    Args:
        job_id: Which.
        store: Where it is.
        claimant: Who we are: the id of this invocation. A repeated invocation has the same and may go on at once.
        seconds: How long this invocation lives.
        clock: Now, aware UTC.
        work: Does it, and returns its result; doing it twice must be as doing it once.
        tell: An error as it is kept.

    Returns:
        Whether it was done here.

    Raises:
        UnavailableError: Something it needs is away; it was given back, and the next attempt may do it.
    """
    now = clock()
    lease_until = now + timedelta(seconds=seconds) + _LEASE_RESERVE
    job = store.claim(job_id, claimant=claimant, lease_until=lease_until, now=now)
    if job is None:
        return False
    result: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    try:
        result = _attempt(job, work)
    except UnavailableError as failure:
        if job.attempts < MAX_ATTEMPTS:
            store.give_back(job_id, claimant=claimant, now=clock())
            raise
        error = tell(failure)
    except SatchelError as failure:
        error = tell(failure)
    store.finish(job_id, claimant=claimant, result=result, error=error, now=clock())
    return True


def _attempt(job: Job, work: Callable[[Job], Mapping[str, Any]]) -> Mapping[str, Any]:
    if job.attempts > MAX_ATTEMPTS:
        raise UnavailableError(f"it was begun {MAX_ATTEMPTS} times and never ended", retry_after_s=60)
    return work(job)


def read_job(
    job_id: str,
    *,
    store: Jobs,
    clock: Callable[[], datetime],
    send: Callable[[Job], None],
    show: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda result: result,
) -> str:
    """A job as JSON. One that its worker has left behind is queued again by being asked for.

    Args:
        job_id: Which.
        store: Where it is.
        clock: Now, aware UTC.
        send: Queues a job.
        show: A result as it goes out.

    Raises:
        NotFoundError: The user has no such job.
    """
    job, now = store.get(job_id), clock()
    if job is None:
        raise NotFoundError("there is no such job", field="job_id")
    if job.is_abandoned(now) and store.touch(job_id, now):
        send(job)
    shown = {
        "job_id": job.job_id,
        "kind": job.kind,
        "status": job.status,
        "created_at": format_timestamp(job.created_at),
        "updated_at": format_timestamp(job.updated_at),
        "result": None if job.result is None else show(job.result),
        "error": job.error,
    }
    return json.dumps(shown, ensure_ascii=False)
