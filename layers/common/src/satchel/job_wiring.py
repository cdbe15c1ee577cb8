"""From settings to the jobs of all features: where they are, and who works on which."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from satchel import objects_wiring
from satchel.api.error_table import error_body
from satchel.api.mcp.functions import LambdaFunctions
from satchel.jobs.jobs import Job, run_job
from satchel.jobs.store import JobStore
from satchel.objects.port import LINK_S, object_key
from satchel.wiring import clock, database, new_id, settings

_WORKERS = {"backtest": "backtest_worker", "session_blocks": "blocks_worker"}
# Names an object in a result; whoever reads the job is shown a link to it.
FILE = "file"


def job_store(user_id: str) -> JobStore:
    """The jobs of one user."""
    return JobStore(database(), user_id)


def send_job(user_id: str, job: Job) -> None:
    """Queue a job. What is queued are ids; who works on it reads the rest from the store."""
    functions().send(_WORKERS[job.kind], {"user_id": user_id, "job_id": job.job_id})


def submit_job(user_id: str, *, kind: str, digest: str, request: Mapping[str, Any]) -> Job:
    """The job of a request, queued; the same request under way is the same job."""
    job, _ = job_store(user_id).submit(new_id(), kind=kind, digest=digest, request=request, now=clock())
    send_job(user_id, job)
    return job


def work_on_job(
    user_id: str, job_id: str, *, claimant: str, seconds: float, work: Callable[[Job], Mapping[str, Any]]
) -> bool:
    """Run a job of the store; see `satchel.jobs.jobs.run_job`."""
    return run_job(
        job_id,
        store=job_store(user_id),
        claimant=claimant,
        seconds=seconds,
        clock=clock,
        work=work,
        tell=lambda error: error_body(error, job_id),
    )


def shown(user_id: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """A job's result with a link to its file, where it has one."""
    told = dict(result)
    if FILE in told:
        told["url"] = objects_wiring.objects().download_link(object_key(user_id, *told.pop(FILE)))
        told["expires_in_s"] = LINK_S
    return told


@cache
def functions() -> LambdaFunctions:
    """The functions of this installation."""
    return LambdaFunctions(settings().stack)
