"""`sandbox_long`: as `sandbox`, with more time, for jobs."""

from typing import Any

from satchel import sandbox_wiring
from satchel.sandbox.remote import run_job


def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    """Run the job in `event`, as `satchel.sandbox.remote` writes it."""
    return run_job(event, sandbox_wiring.engine())
