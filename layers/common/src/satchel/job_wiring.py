"""From settings to the jobs of all features: where they are, and who works on which."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from satchel import objects_wiring
from satchel.api.mcp.functions import LambdaFunctions
from satchel.jobs.jobs import Job
from satchel.jobs.store import JobStore
from satchel.objects.port import LINK_S, object_key
from satchel.wiring import database, settings

_WORKERS = {"backtest": "backtest_worker", "session_blocks": "blocks_worker"}
# Names an object in a result; whoever reads the job is shown a link to it.
FILE = "file"


def job_store(user_id: str) -> JobStore:
    """The jobs of one user."""
    return JobStore(database(), user_id)


def send_job(user_id: str, job: Job) -> None:
    """Queue a job. What is queued are ids; who works on it reads the rest from the store."""
    _functions().send(_WORKERS[job.kind], {"user_id": user_id, "job_id": job.job_id})


def shown(user_id: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """A job's result with a link to its file, where it has one."""
    told = dict(result)
    if FILE in told:
        told["url"] = objects_wiring.objects().download_link(object_key(user_id, *told.pop(FILE)))
        told["expires_in_s"] = LINK_S
    return told


@cache
def _functions() -> LambdaFunctions:
    return LambdaFunctions(settings().stack)
