"""`context://job/{job_id}`: how far a job is."""

from functools import partial

from satchel import job_wiring, wiring
from satchel.api.handler import Call, Content, resource
from satchel.jobs.jobs import read_job


@resource("job", "context://job/{job_id}")
def handler(variables: dict[str, str], call: Call) -> Content:
    """The job as JSON; one that its worker has left behind is queued again."""
    text = read_job(
        variables["job_id"],
        store=job_wiring.job_store(call.user_id),
        clock=wiring.clock,
        send=partial(job_wiring.send_job, call.user_id),
        show=partial(job_wiring.shown, call.user_id),
    )
    return Content(text, "application/json")
