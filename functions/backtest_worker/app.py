"""Runs backtests that take longer than a request may. It is handed ids, and reads the rest."""

from typing import Any

from satchel import program_wiring
from satchel.api.handler import LambdaContext
from satchel.api.job import queued_job


@queued_job("backtest_worker")
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Run the job that the event names, unless it is finished or somebody runs it."""
    done = program_wiring.run_backtest_job(
        str(event["user_id"]),
        str(event["job_id"]),
        claimant=context.aws_request_id,
        seconds=context.get_remaining_time_in_millis() / 1000,
    )
    return {"done": int(done)}
