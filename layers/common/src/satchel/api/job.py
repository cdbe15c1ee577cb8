"""The edge of a function that runs on a schedule: nobody waits for its answer."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

from satchel.api.error_table import wire_of
from satchel.api.handler import Handler, LambdaContext
from satchel.api.request_log import log_request


class JobFailedError(Exception):
    """A job did not finish; the log says why. Raised so that Lambda counts it and tries again."""


def job(name: str) -> Callable[[Callable[[Callable[[], int]], dict[str, Any]]], Handler]:
    """Make a handler of work that is handed the milliseconds it has left, and returns facts about what it did.

    Args:
        name: The function's name, for the log.
    """

    def decorate(work: Callable[[Callable[[], int]], dict[str, Any]]) -> Handler:
        def handle(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
            del event
            started = perf_counter()
            failure: Exception | None = None
            facts: dict[str, Any] = {}
            try:
                facts = work(context.get_remaining_time_in_millis)
            except Exception as error:  # noqa: BLE001 - the edge: every error is told here
                failure = error
            log_request(
                function=name,
                request_id=context.aws_request_id,
                duration_ms=(perf_counter() - started) * 1000,
                error=failure,
            )
            if failure is not None:
                # The runtime prints what a handler raises; a driver's message may hold what a user wrote.
                raise JobFailedError(f"{name}: {wire_of(failure).code}")
            return facts

        return handle

    return decorate
