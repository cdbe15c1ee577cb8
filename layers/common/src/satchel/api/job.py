"""The edge of a function that runs on a schedule: nobody waits for its answer."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

from satchel.api.error_table import wire_of
from satchel.api.handler import Handler, LambdaContext
from satchel.api.request_log import log_request


class JobFailedError(Exception):
    """A job did not finish; the log says why. Raised so that Lambda counts it and tries again."""


def queued_job(name: str) -> Callable[[Callable[[dict[str, Any], LambdaContext], dict[str, Any]]], Handler]:
    """Make a handler of work that is asked for by an asynchronous invocation, and returns facts about what it did.

    Args:
        name: The function's name, for the log.
    """

    def decorate(work: Callable[[dict[str, Any], LambdaContext], dict[str, Any]]) -> Handler:
        def handle(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
            return _running(name, context, lambda: work(event, context))

        return handle

    return decorate


@dataclass(frozen=True)
class QueuedTask:
    """A message of a queue.

    Attributes:
        ids: What it says: ids of what is to be done.
        receipt: Names it while it is in our hands.
        attempt: The how-many-th time it is handed out, from 1.
    """

    ids: dict[str, Any]
    receipt: str
    attempt: int


def queue_worker(name: str) -> Callable[[Callable[[QueuedTask, LambdaContext], dict[str, Any]]], Handler]:
    """Make a handler of work that comes through a queue; what fails is told, so that only that comes again.

    Args:
        name: The function's name, for the log.
    """

    def decorate(work: Callable[[QueuedTask, LambdaContext], dict[str, Any]]) -> Handler:
        def handle(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
            failed: list[str] = []
            for record in event["Records"]:
                task = partial(_task, record)
                try:
                    _running(name, context, lambda task=task: work(task(), context))
                except JobFailedError:
                    failed.append(str(record["messageId"]))
            return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}

        return handle

    return decorate


def _task(record: dict[str, Any]) -> QueuedTask:
    attempt = int(record["attributes"]["ApproximateReceiveCount"])
    return QueuedTask(json.loads(record["body"]), str(record["receiptHandle"]), attempt)


def job(name: str) -> Callable[[Callable[[Callable[[], int]], dict[str, Any]]], Handler]:
    """Make a handler of work that is handed the milliseconds it has left, and returns facts about what it did.

    Args:
        name: The function's name, for the log.
    """

    def decorate(work: Callable[[Callable[[], int]], dict[str, Any]]) -> Handler:
        def handle(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
            del event
            return _running(name, context, lambda: work(context.get_remaining_time_in_millis))

        return handle

    return decorate


def _running(name: str, context: LambdaContext, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    started = perf_counter()
    failure: Exception | None = None
    facts: dict[str, Any] = {}
    try:
        facts = work()
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
