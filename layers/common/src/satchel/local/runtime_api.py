"""The Lambda Runtime API as the runtime client in each worker sees it.

https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html. Every worker has a port of its own, and the port says
which worker speaks.
"""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from satchel.local.invocation import RESPONSE_LIMIT_BYTES
from satchel.local.worker import Worker
from satchel.local.workers import Slots

_ACCEPTED = JSONResponse({"status": "OK"}, status_code=202)


def build(slots: Slots) -> Starlette:
    """The application that serves the Runtime API on every slot's address."""

    def worker_of(request: Request) -> Worker | None:
        host, port = request.scope["server"]
        return slots.worker_at(f"{host}:{port}")

    async def take_next(request: Request) -> Response:
        worker = worker_of(request)
        invocation = await worker.next_invocation() if worker else None
        if worker is None or invocation is None:
            return _error(410, "NoWorker", "This worker is being ended.")
        headers = {
            "Lambda-Runtime-Aws-Request-Id": invocation.request_id,
            "Lambda-Runtime-Deadline-Ms": str(worker.deadline_ms()),
            "Lambda-Runtime-Invoked-Function-Arn": worker.function.arn,
            "Lambda-Runtime-Trace-Id": invocation.trace_id,
        }
        if invocation.client_context is not None:
            headers["Lambda-Runtime-Client-Context"] = invocation.client_context
        return Response(invocation.payload, headers=headers, media_type="application/json")

    async def take_answer(request: Request) -> Response:
        payload = await request.body()
        worker = worker_of(request)
        failed = request.path_params["kind"] == "error"
        if worker is None or not worker.answer(request.path_params["request_id"], payload, error=failed):
            return _error(400, "InvalidRequestID", "This worker does not hold that invocation.")
        if len(payload) > RESPONSE_LIMIT_BYTES:
            worker.kill()  # the runtime client does not go on after this
            return _error(413, "RequestEntityTooLarge", f"The limit is {RESPONSE_LIMIT_BYTES} bytes.")
        return _ACCEPTED

    async def take_init_error(request: Request) -> Response:
        if worker := worker_of(request):
            worker.init_failed(await request.body())
        return _ACCEPTED

    prefix = "/2018-06-01/runtime"
    return Starlette(
        routes=[
            Route(f"{prefix}/invocation/next", take_next, methods=["GET"]),
            Route(f"{prefix}/invocation/{{request_id}}/{{kind}}", take_answer, methods=["POST"]),
            Route(f"{prefix}/init/error", take_init_error, methods=["POST"]),
        ]
    )


def _error(status: int, kind: str, text: str) -> Response:
    return JSONResponse({"errorType": kind, "errorMessage": text}, status_code=status)
