"""The HTTP edge of the MCP adapter: a Lambda handler over the endpoint, with its rules about who may come in."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from time import monotonic, perf_counter
from typing import Any, NoReturn

from satchel.api.auth import TokenVerifier
from satchel.api.catalogue import DEFAULT_TOOLSET, Catalogue
from satchel.api.envelopes import json_response
from satchel.api.error_table import error_body, status_of, wire_of
from satchel.api.gateway_request import GatewayRequest, gateway_request
from satchel.api.handler import LambdaContext
from satchel.api.mcp.admission import Admission
from satchel.api.mcp.challenge import MCP_PATH, METADATA_PATHS, challenge, resource_metadata
from satchel.api.mcp.endpoint import Answer, McpEndpoint, accepted
from satchel.api.mcp.exchange import Exchange
from satchel.api.mcp.functions import Functions, ask
from satchel.api.request_log import log_request
from satchel.errors import ForbiddenError, InvalidInputError, NotFoundError, RetryableError, UnauthorizedError

# Kept back from the time that Lambda gives us, so that a slow function ends in our answer and not in a cut line.
_RESERVE_S = 2.0
_FUNCTION = "mcp_adapter"
_RESOURCES_PATH = "/v1/resources"


class _StatusError(Exception):
    """An answer that is a matter of HTTP alone."""

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.headers = dict(headers or {})


@dataclass(frozen=True)
class McpAdapter:
    """The Lambda handler of the MCP endpoint and of the metadata that lead to it.

    Attributes:
        endpoint: Answers the POSTs.
        functions: Who serves the catalogue, for a resource that is read over plain HTTPS.
        catalogue: Tells tool sets and scopes.
        verifier: Tells who asks.
        admission: Which hosts and origins may ask at all.
        issuer: Where clients get their tokens.
        basic_scopes: What a client should ask for first; the rest is asked for when a tool needs it.
    """

    endpoint: McpEndpoint
    functions: Functions
    catalogue: Catalogue
    verifier: TokenVerifier
    admission: Admission
    issuer: str
    basic_scopes: tuple[str, ...] = ("context:read", "context:write")

    @cached_property
    def _loop(self) -> asyncio.AbstractEventLoop:
        """The one event loop of this process. A loop for each call would close what the last call had opened."""
        return asyncio.new_event_loop()

    def handle(self, event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        """Answer one API Gateway event."""
        started = perf_counter()
        request = gateway_request(event)
        request_id = request.request_id or context.aws_request_id
        failure: Exception | None = None
        try:
            answer = self._answer(request, request_id, context)
            failure = answer.failure
            response: dict[str, Any] = {
                "statusCode": answer.status,
                "headers": dict(answer.headers),
                "body": answer.body,
                "isBase64Encoded": False,
            }
        except _StatusError as refused:
            body = {"code": refused.code, "field": None, "message": str(refused), "request_id": request_id}
            response = json_response(refused.status, {"error": body}, refused.headers)
        except Exception as error:  # noqa: BLE001 - the one edge: every error is told here
            failure = error
            response = self._told(request, request_id, error)
        response["headers"].update(self.admission.cors_headers(request.headers.get("origin")))
        log_request(
            function=_FUNCTION, request_id=request_id, duration_ms=(perf_counter() - started) * 1000, error=failure
        )
        return response

    def close(self) -> None:
        """Close the event loop, where a process has an end (tests, benchmarks)."""
        if "_loop" in self.__dict__:
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    def _answer(self, request: GatewayRequest, request_id: str, context: LambdaContext) -> Answer:
        self.admission.check(request)
        if request.path in METADATA_PATHS:
            return self._metadata(request)
        deadline = monotonic() + context.get_remaining_time_in_millis() / 1000 - _RESERVE_S
        if request.path == _RESOURCES_PATH:
            return self._resource(request, request_id, deadline - monotonic())
        if request.path != MCP_PATH:
            raise _StatusError(404, "not_found", "there is nothing at this path; the MCP endpoint is /mcp")
        if request.method != "POST":
            _refuse_method("POST")
        content_type = request.headers.get("content-type", "").split(";", 1)[0].strip().lower()
        if content_type != "application/json":
            raise _StatusError(415, "invalid_input", "the Content-Type must be application/json")
        if not any(accepted(request.headers.get("accept"))):
            raise _StatusError(406, "invalid_input", "the Accept header must take application/json")
        principal = self.verifier.verify(request.headers.get("authorization"))
        exchange = Exchange(principal, request_id, self._toolsets(request), lambda: deadline - monotonic())
        return self._loop.run_until_complete(self.endpoint.post(request.headers, request.body(), exchange))

    def _resource(self, request: GatewayRequest, request_id: str, remaining_s: float) -> Answer:
        """Read a resource over plain HTTPS: the catalogue knows which function serves its URI."""
        if request.method != "GET":
            _refuse_method("GET")
        principal = self.verifier.verify(request.headers.get("authorization"))
        uris = request.query_values("uri")
        if len(uris) != 1:
            raise InvalidInputError("one uri is needed", field="uri")
        entry = self.catalogue.resource(uris[0])
        if entry is None:
            raise NotFoundError("there is no resource of this URI", field="uri")
        answer = ask(
            self.functions,
            entry,
            {"resource": uris[0]},
            principal=principal,
            request_id=request_id,
            remaining_s=remaining_s,
        )
        status = status_of(answer["error"]["code"]) if "error" in answer else 200
        response = json_response(status, answer)
        return Answer(status, response["headers"], response["body"])

    def _metadata(self, request: GatewayRequest) -> Answer:
        if request.method not in {"GET", "HEAD"}:
            _refuse_method("GET, HEAD")
        document = resource_metadata(request.base_url, self.issuer, self.catalogue.scopes)
        response = json_response(200, document, {"cache-control": "public, max-age=300"})
        return Answer(200, response["headers"], response["body"])

    def _toolsets(self, request: GatewayRequest) -> tuple[str, ...]:
        given = [name.strip() for value in request.query_values("toolsets") for name in value.split(",")]
        toolsets = tuple(name for name in given if name) or (DEFAULT_TOOLSET,)
        self.catalogue.tools_of(toolsets)  # an unknown name is the caller's error, now
        return toolsets

    def _told(self, request: GatewayRequest, request_id: str, error: Exception) -> dict[str, Any]:
        headers: dict[str, str] = {}
        if isinstance(error, UnauthorizedError):
            sent = "authorization" in request.headers
            headers["www-authenticate"] = challenge(
                request.base_url,
                scopes=self.basic_scopes,
                error="invalid_token" if sent else None,
                description=error.message,
            )
        elif isinstance(error, ForbiddenError) and error.scope is not None:
            granted = self.verifier.verify(request.headers.get("authorization")).scopes
            headers["www-authenticate"] = challenge(
                request.base_url,
                scopes=sorted(granted | {error.scope}),
                error="insufficient_scope",
                description=error.message,
            )
        elif isinstance(error, RetryableError):
            headers["retry-after"] = str(error.retry_after_s)
        return json_response(wire_of(error).status, {"error": error_body(error, request_id)}, headers)


def _refuse_method(allowed: str) -> NoReturn:
    raise _StatusError(405, "invalid_input", f"only {allowed} is answered here", {"allow": allowed})
