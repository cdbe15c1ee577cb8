"""The HTTP API in front of the functions, answering as API Gateway does, in bytes and in limits."""

import asyncio
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from satchel.local import cors
from satchel.local.authorizer import JwtVerifier, ScopeError, TokenError
from satchel.local.gateway_events import HttpRequest, HttpResponse, from_result, message, to_event
from satchel.local.invocation import REQUEST_LIMIT_BYTES, Invocation
from satchel.local.invoke_api import Invoker
from satchel.local.routing import Match, RouteTable

# https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html
_TIME_LIMIT_S = 30.0
_BODY_LIMIT_BYTES = 10 * 1024 * 1024
_HEADER_LIMIT_BYTES = 10_240
# A client that sends more than the limit first finishes sending, or it never reads why it was refused.
_DRAIN_LIMIT_BYTES = 10 * _BODY_LIMIT_BYTES


class HttpFront:
    """An ASGI application that turns requests into invocations.

    Args:
        invoker: Runs the functions and knows the template.
        verifier: Checks tokens for routes with an authorizer.
        clock: The time, aware UTC.
        own: Applications served beside the template's routes, by exact path; they win.
        sockets: Serves WebSocket connections.
        time_limit_s: How long a request may take; the function goes on running after that, as in the cloud.
        health_path: Answers 503 while a function cannot start, whatever its route would say.
        init_errors: The functions that cannot start, by name.
    """

    def __init__(
        self,
        invoker: Invoker,
        verifier: JwtVerifier,
        clock: Callable[[], datetime],
        *,
        own: Mapping[str, ASGIApp] | None = None,
        sockets: ASGIApp,
        time_limit_s: float = _TIME_LIMIT_S,
        health_path: str | None = None,
        init_errors: Callable[[], Mapping[str, str]] = dict[str, str],
    ) -> None:
        self._invoker = invoker
        self._application = invoker.application
        self._routes = RouteTable(invoker.application.routes)
        self._verifier = verifier
        self._clock = clock
        self._own = own or {}
        self._time_limit_s = time_limit_s
        self._sockets = sockets
        self._health_path = health_path
        self._init_errors = init_errors
        self._running: set[asyncio.Task[Any]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] == "websocket":
            await self._sockets(scope, receive, send)
            return
        if app := self._own.get(scope["path"]):
            await app(scope, receive, send)
            return
        body = await _read(receive)
        client = scope.get("client") or ("127.0.0.1", 0)
        request = HttpRequest(
            method=scope["method"],
            path=scope["raw_path"].decode("latin-1"),
            query=scope["query_string"].decode("latin-1"),
            headers=[(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]],
            body=body or b"",
            source_ip=client[0],
        )
        request_id = str(uuid.uuid4())
        response = message(413, "Request Too Long") if body is None else await self._answer(request, request_id)
        await _write(send, response, {**self._cors_headers(request), "apigw-requestid": request_id}, request.method)

    async def close(self) -> None:
        """Drops invocations whose requests have already been answered."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _cors_headers(self, request: HttpRequest) -> dict[str, str]:
        configuration = self._application.cors
        headers = request.joined_headers()
        if configuration is None or cors.is_preflight(request.method, headers):
            return {}
        return cors.answer_headers(configuration, headers.get("origin", ""))

    async def _answer(self, request: HttpRequest, request_id: str) -> HttpResponse:
        headers = request.joined_headers()
        if sum(len(name) + len(value) for name, value in request.headers) > _HEADER_LIMIT_BYTES:
            return message(431, "Request Header Fields Too Large")
        configuration = self._application.cors
        if configuration is not None and cors.is_preflight(request.method, headers):
            return HttpResponse(204, cors.preflight_headers(configuration, headers["origin"]), b"")
        match = self._routes.match(request.method, request.path)
        if match is None:
            return message(404, "Not Found")
        try:
            claims = self._claims(match, headers.get("authorization", ""))
        except TokenError:
            return message(401, "Unauthorized", {"www-authenticate": "Bearer"})
        except ScopeError:
            return message(403, "Forbidden")
        event = to_event(request, match, request_id=request_id, now=self._clock(), claims=claims)
        return await self._invoke(match, event)

    def _claims(self, match: Match, header: str) -> dict[str, Any] | None:
        if match.route.authorizer is None:
            return None
        authorizer = self._application.authorizers[match.route.authorizer]
        return self._verifier.claims(header, authorizer, match.route.scopes)

    async def _invoke(self, match: Match, event: dict[str, Any]) -> HttpResponse:
        if match.route.path == self._health_path and (broken := self._init_errors()):
            return message(503, f"These functions do not start, see the log: {', '.join(sorted(broken))}")
        payload = json.dumps(event, ensure_ascii=False).encode()
        if len(payload) > REQUEST_LIMIT_BYTES:
            return message(413, "Request Too Long")
        function = self._application.functions[match.route.function]
        task = asyncio.create_task(self._invoker.invoke(function, Invocation(str(uuid.uuid4()), payload)))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            outcome = await asyncio.wait_for(asyncio.shield(task), self._time_limit_s)
        except TimeoutError:
            return message(503, "Service Unavailable")
        except asyncio.CancelledError:
            if not task.cancelled():
                raise
            return message(503, "Service Unavailable")  # the stack is stopping
        if outcome.error:
            return message(500, "Internal Server Error")
        return self._without_cors(from_result(outcome.payload))

    def _without_cors(self, response: HttpResponse) -> HttpResponse:
        """Where CORS is configured, the gateway drops what the function itself says about it."""
        if self._application.cors is None:
            return response
        own = {name: value for name, value in response.headers.items() if not name.startswith("access-control-")}
        return replace(response, headers=own)


async def _read(receive: Receive) -> bytes | None:
    """The whole body; None if it is over the limit."""
    body = bytearray()
    size = 0
    while True:
        part = await receive()
        if part["type"] != "http.request":
            return bytes(body)
        chunk: bytes = part.get("body", b"")
        size += len(chunk)
        if size <= _BODY_LIMIT_BYTES:
            body += chunk
        if not part.get("more_body") or size > _DRAIN_LIMIT_BYTES:
            return bytes(body) if size <= _BODY_LIMIT_BYTES else None


async def _write(send: Send, response: HttpResponse, gateway_headers: Mapping[str, str], method: str) -> None:
    headers = {**response.headers, **gateway_headers}
    if response.headers.get("vary", "origin") != "origin" and "vary" in gateway_headers:
        headers["vary"] = f"{response.headers['vary']}, {gateway_headers['vary']}"
    headers.pop("content-length", None)
    has_body = response.status not in {204, 304}
    raw = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers.items()]
    raw += [(b"set-cookie", cookie.encode("latin-1", "replace")) for cookie in response.cookies]
    if has_body:
        raw.append((b"content-length", str(len(response.body)).encode()))
    await send({"type": "http.response.start", "status": response.status, "headers": raw})
    await send({"type": "http.response.body", "body": response.body if has_body and method != "HEAD" else b""})
