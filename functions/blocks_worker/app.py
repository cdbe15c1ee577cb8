"""Cuts a session that was uploaded. It is handed ids, and reads the rest."""

from typing import Any

from satchel import blocks_wiring
from satchel.api.handler import LambdaContext
from satchel.api.job import queued_job


@queued_job("blocks_worker")
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Do the job that the event names, unless it is finished or somebody does it."""
    return {"done": int(blocks_wiring.run_block_job(str(event["user_id"]), str(event["job_id"]), context))}
