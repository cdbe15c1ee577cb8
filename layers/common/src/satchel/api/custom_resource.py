"""The edge of a function that CloudFormation invokes as a custom resource.

CloudFormation waits for a PUT to the request's `ResponseURL`, whatever happens; a deployment that hears nothing
hangs until its time-out. The same handler answers a plain invocation (no `ResponseURL`) with its result.

Source: AWS CloudFormation user guide, "Custom resource request objects" and "Custom resource response objects".
"""

import json
import urllib.request
from collections.abc import Callable
from time import perf_counter
from typing import Any

from satchel.api.handler import Handler, LambdaContext
from satchel.api.request_log import log_request

# CloudFormation's limit for the whole answer is 4 KB.
_REASON_CHARS = 500
_TIMEOUT_S = 10


def custom_resource(
    name: str, *, safe_errors: tuple[type[Exception], ...]
) -> Callable[[Callable[[], dict[str, str]]], Handler]:
    """Make a handler of a function that brings something about on Create and Update, and returns facts about it.

    On Delete there is nothing to do: what was brought about goes with the thing it was done to.

    Args:
        name: The function's name; also names the resource, which never changes and so is never replaced.
        safe_errors: Errors whose message may be shown; of others only the type is.
    """

    def decorate(function: Callable[[], dict[str, str]]) -> Handler:
        def handle(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
            started = perf_counter()
            failure: Exception | None = None
            answer: dict[str, Any]
            try:
                facts = {} if event.get("RequestType") == "Delete" else function()
                answer = {"Status": "SUCCESS", "Data": facts}
            except Exception as error:  # noqa: BLE001 - the edge: CloudFormation must hear of every failure
                failure = error
                answer = {"Status": "FAILED", "Reason": _reason(name, error, safe_errors)}
            log_request(
                function=name,
                request_id=context.aws_request_id,
                duration_ms=(perf_counter() - started) * 1000,
                error=failure,
            )
            if "ResponseURL" in event:
                _send(event, {**answer, "PhysicalResourceId": name})
            return answer

        return handle

    return decorate


def _reason(name: str, error: Exception, safe_errors: tuple[type[Exception], ...]) -> str:
    told = str(error) if isinstance(error, safe_errors) else f"{type(error).__name__}; the log of {name} says more"
    return told[:_REASON_CHARS]


def _send(event: dict[str, Any], answer: dict[str, Any]) -> None:
    body = answer | {key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId")}
    request = urllib.request.Request(  # noqa: S310 - the URL is CloudFormation's
        event["ResponseURL"],
        data=json.dumps(body).encode(),
        method="PUT",
        # The URL is signed for an empty content type.
        headers={"Content-Type": ""},
    )
    with urllib.request.urlopen(request, timeout=_TIMEOUT_S):  # noqa: S310
        pass
