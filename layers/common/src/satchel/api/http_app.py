"""What the few functions with several routes share: FastAPI behind Mangum, with our errors and our principal."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from mangum import Mangum

from satchel.api.envelopes import HttpEnvelope
from satchel.api.error_table import error_body, wire_of
from satchel.api.gateway_request import GatewayRequest, gateway_request
from satchel.api.handler import Handler
from satchel.api.principal import Principal
from satchel.api.request_log import log_request
from satchel.api.validation import field_path
from satchel.errors import ForbiddenError, InvalidInputError, RetryableError

# Added to the event, since Mangum knows no stage and forgives broken base64.
_REQUEST = "satchel.request"


def http_app(name: str) -> FastAPI:
    """An application whose errors are told from the error table, with one log line per request.

    Args:
        name: The function's name, for the log.
    """
    app = FastAPI(title="Satchel", openapi_url=None, docs_url=None, redoc_url=None)

    @app.middleware("http")
    async def tell_and_log(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:  # pyright: ignore[reportUnusedFunction]
        started = perf_counter()
        request_id = _envelope(request).request_id
        failure: Exception | None = None
        try:
            _check(_gateway_request(request))
            response = await call_next(request)
        except Exception as error:  # noqa: BLE001 - the edge of the functions that have routes
            failure = error
            response = _failure(error, request_id)
        duration_ms = (perf_counter() - started) * 1000
        log_request(function=name, request_id=request_id, duration_ms=duration_ms, error=failure)
        return response

    @app.exception_handler(RequestValidationError)
    async def tell_validation(_request: Request, error: Exception) -> Response:  # pyright: ignore[reportUnusedFunction]
        assert isinstance(error, RequestValidationError)
        found: dict[str, Any] = error.errors()[0]
        path = field_path([part for part in found["loc"] if part not in ("body", "query", "path", "header")])
        raise InvalidInputError(f"{path}: {found['msg']}" if path else found["msg"], field=path or None) from error

    return app


def lambda_handler(app: FastAPI) -> Handler:
    """`app` as a Lambda handler that routes by the path without a stage; `base_url` keeps the URL with it.

    It owns one event loop for as long as the process lives. Mangum runs on whatever loop is current, and that may be
    one that other code has made, closed or dropped since the last call.
    """
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    adapter = Mangum(app, lifespan="off")

    def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
        asyncio.set_event_loop(loop)
        return adapter(_for_mangum(gateway_request(event)), context)

    return handle


def base_url(request: Request) -> str:
    """The URL the caller reached the API under, a stage included."""
    return _gateway_request(request).base_url


def require(request: Request, scope: str) -> Principal:
    """The verified caller.

    Raises:
        UnauthorizedError: Nobody has verified who is asking.
        ForbiddenError: The token lacks `scope`.
    """
    principal = _envelope(request).principal()
    if scope not in principal.scopes:
        raise ForbiddenError(f"this needs the scope {scope}", scope=scope)
    return principal


def expected_version(request: Request) -> int | None:
    """The version that `If-Match` names; None where any will do (no header, or `*`).

    Raises:
        InvalidInputError: It is not an entity tag of ours.
    """
    tag = request.headers.get("if-match", "*").strip()
    if tag == "*":
        return None
    digits = tag.removeprefix("W/").strip('"')
    if not (digits.isascii() and digits.isdigit() and len(digits) < 19):  # noqa: PLR2004 - a bigint
        raise InvalidInputError("If-Match must be an ETag that this resource has given", field="If-Match")
    return int(digits)


def _for_mangum(request: GatewayRequest) -> dict[str, Any]:
    """`request` as an HTTP API's event, whatever kind of API it came from: Mangum knows no REST API's stage."""
    try:
        body = base64.b64encode(request.body()).decode()
    except InvalidInputError:  # told within the application
        body = ""
    http = {"method": request.method, "path": request.path, "sourceIp": ""}
    return {
        "version": "2.0",
        "rawQueryString": request.query,
        "headers": dict(request.headers),
        "requestContext": {**request.event["requestContext"], "http": http},
        "body": body,
        "isBase64Encoded": True,
        _REQUEST: request,
    }


def _gateway_request(request: Request) -> GatewayRequest:
    return request.scope["aws.event"][_REQUEST]


def _check(request: GatewayRequest) -> None:
    request.body()  # raises where it is not the base64 that it is said to be
    request.check_path()


def _envelope(request: Request) -> HttpEnvelope:
    event = request.scope["aws.event"]
    context = request.scope["aws.context"]
    return HttpEnvelope(event, str(event["requestContext"].get("requestId") or context.aws_request_id))


def _failure(error: Exception, request_id: str) -> Response:
    headers = {"retry-after": str(error.retry_after_s)} if isinstance(error, RetryableError) else None
    return JSONResponse({"error": error_body(error, request_id)}, wire_of(error).status, headers)
