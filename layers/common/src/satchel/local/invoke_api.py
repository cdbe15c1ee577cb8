"""The part of the Lambda API that invokes functions, so that `boto3` and the AWS command line work unchanged.

https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
"""

import asyncio
import base64
import hmac
import json
import re
import uuid
from collections.abc import Awaitable, Callable, Sequence

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from satchel.local import queue_api
from satchel.local.invocation import EVENT_LIMIT_BYTES, REQUEST_LIMIT_BYTES, Invocation, Outcome
from satchel.local.log_stream import LogStream
from satchel.local.queues import API_PATH, Queues
from satchel.local.socket_connections import STAGE, Connections, GoneError
from satchel.local.template import Application, Function
from satchel.local.workers import Fleet

_ACCESS_KEY = re.compile(r"Credential=([^/,\s]+)/")
# Lambda waits one and two minutes before it tries an asynchronous invocation again; nobody at a laptop does.
RETRY_DELAYS_S = (1.0, 2.0)


class Invoker:
    """Runs functions by name, for HTTP and for the Invoke API alike."""

    def __init__(
        self,
        application: Application,
        fleet: Fleet,
        logs: LogStream,
        *,
        retry_delays_s: Sequence[float] = RETRY_DELAYS_S,
    ) -> None:
        self.application = application
        self._fleet = fleet
        self._logs = logs
        self._retry_delays_s = retry_delays_s
        self._background: set[asyncio.Task[None]] = set()

    async def invoke(self, function: Function, invocation: Invocation) -> Outcome:
        """Runs one invocation and waits for its outcome."""
        return await self._fleet.pools[function.logical_id].invoke(invocation)

    def invoke_later(self, function: Function, invocation: Invocation) -> None:
        """Runs one invocation in the background; after a failure twice more with the same request id, as Lambda."""
        task = asyncio.create_task(self._until_done(function, invocation))
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def close(self) -> None:
        """Drops what still runs in the background."""
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)

    async def _until_done(self, function: Function, invocation: Invocation) -> None:
        for delay_s in (*self._retry_delays_s, None):
            outcome = await self.invoke(function, invocation)
            if not outcome.error:
                return
            if delay_s is None:
                self._logs.event("event_dropped", function=function.name, request_id=invocation.request_id)
            else:
                await asyncio.sleep(delay_s)


def build(invoker: Invoker, *, connections: Connections, queues: Queues, access_key: str) -> Starlette:
    """The application of what functions use of AWS: Lambda, SQS, and open connections of the WebSocket API.

    Args:
        invoker: What runs functions.
        connections: Those that are open.
        queues: Where messages are sent.
        access_key: The AWS access key id a caller must sign with. It keeps other users of the machine out: a function
            trusts whoever may invoke it. The signature itself is not checked.
    """

    async def invoke(request: Request) -> Response:
        if not _is_signed(request, access_key):
            return _error(403, "UnrecognizedClientException", "The security token included in the request is invalid.")
        name = request.path_params["name"]
        function = invoker.application.find(name)
        if function is None:
            return _error(404, "ResourceNotFoundException", f"Function not found: {name}")
        kind = request.headers.get("x-amz-invocation-type", "RequestResponse")
        payload = await request.body() or b"{}"
        if refusal := _refusal(payload, EVENT_LIMIT_BYTES if kind == "Event" else REQUEST_LIMIT_BYTES):
            return refusal
        context = request.headers.get("x-amz-client-context")
        invocation = Invocation(
            str(uuid.uuid4()), payload, client_context=base64.b64decode(context).decode() if context else None
        )
        if kind == "RequestResponse":
            wants_log = request.headers.get("x-amz-log-type") == "Tail"
            return _answer(invocation, await invoker.invoke(function, invocation), wants_log=wants_log)
        if kind == "Event":
            invoker.invoke_later(function, invocation)
        status = 202 if kind == "Event" else 204  # DryRun; boto3 lets no other kind through
        return Response(status_code=status, headers={"x-amzn-RequestId": invocation.request_id})

    async def queue(request: Request) -> Response:
        if not _is_signed(request, access_key):
            return _error(403, "AccessDenied", "Access to the resource is denied.")
        return await queue_api.answer(request, queues)

    return Starlette(
        routes=[
            Route(f"/{API_PATH}", queue, methods=["POST"]),
            Route("/2015-03-31/functions/{name:path}/invocations", invoke, methods=["POST"]),
            Route(f"/{STAGE}/@connections/{{connection_id}}", _send_with(connections, access_key), methods=["POST"]),
        ]
    )


def _send_with(connections: Connections, access_key: str) -> Callable[[Request], Awaitable[Response]]:
    """`POST /@connections/{id}`, which sends a frame.

    https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-how-to-call-websocket-api-connections.html
    """

    async def send(request: Request) -> Response:
        if not _is_signed(request, access_key):
            return _error(403, "ForbiddenException", "Forbidden")
        try:
            connections.send(request.path_params["connection_id"], (await request.body()).decode("utf-8", "replace"))
        except GoneError:
            return _error(410, "GoneException", "The connection is gone.")
        return Response(status_code=200)

    return send


def _is_signed(request: Request, access_key: str) -> bool:
    sent = _ACCESS_KEY.search(request.headers.get("authorization", ""))
    return sent is not None and hmac.compare_digest(sent[1], access_key)


def _refusal(payload: bytes, limit: int) -> Response | None:
    """Why Lambda would not take a payload; None if it would."""
    if len(payload) > limit:
        text = f"Request must be smaller than {limit} bytes for the InvokeFunction operation"
        return _error(413, "RequestTooLargeException", text)
    try:
        json.loads(payload)
    except ValueError:
        return _error(400, "InvalidRequestContentException", "Could not parse request body into json.")
    return None


def _answer(invocation: Invocation, outcome: Outcome, *, wants_log: bool) -> Response:
    headers = {"x-amzn-RequestId": invocation.request_id, "X-Amz-Executed-Version": "$LATEST"}
    if outcome.error:
        headers["X-Amz-Function-Error"] = "Unhandled"
    if wants_log:
        headers["X-Amz-Log-Result"] = base64.b64encode(outcome.log_tail).decode()
    return Response(outcome.payload, headers=headers, media_type="application/json")


def _error(status: int, kind: str, text: str) -> Response:
    body = {"Type": "User", "message": text}
    return JSONResponse(
        body, status_code=status, headers={"x-amzn-ErrorType": kind, "x-amzn-RequestId": str(uuid.uuid4())}
    )
