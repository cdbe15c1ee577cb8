"""The WebSocket API in front of the functions, answering as API Gateway does.

https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html
"""

import asyncio
import json
import secrets
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import Receive, Scope, Send

from satchel.local.invocation import Invocation
from satchel.local.invoke_api import Invoker
from satchel.local.socket_connections import STAGE, Connections
from satchel.local.socket_events import Handshake, SocketConnection, authorizer_context, failure_frame, route_of

_MESSAGE_LIMIT_BYTES = 128 * 1024
_IDLE_S = 600.0
_GOING_AWAY, _POLICY_VIOLATION = 1001, 1008


class SocketFront:
    """An ASGI application for the stage's path, one connection each.

    Args:
        invoker: Runs the functions.
        connections: Holds what is open.
        clock: The time, aware UTC.
    """

    def __init__(self, invoker: Invoker, connections: Connections, clock: Callable[[], datetime]) -> None:
        self._invoker = invoker
        self._clock = clock
        self._routes = {route.route_key: route for route in invoker.application.web_socket_routes}
        self._connections = connections

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        await receive()
        if scope["path"].strip("/") != STAGE or "$connect" not in self._routes:
            await _refuse(scope, send, 403)
            return
        connection = SocketConnection(
            connection_id=f"{secrets.token_urlsafe(11)}=",
            connected_at=self._clock(),
            stage=STAGE,
            handshake=_handshake(scope),
        )
        context, status = await self._authorise(connection)
        if status:
            await _refuse(scope, send, status)
            return
        connection = SocketConnection(
            connection.connection_id, connection.connected_at, STAGE, connection.handshake, context
        )
        answer = await self._invoke("$connect", self._event(connection, "CONNECT", "$connect"))
        status = int((answer or {}).get("statusCode", 500))
        if status >= 400:  # noqa: PLR2004 - HTTP's errors
            await _refuse(scope, send, status)
            return
        await send({"type": "websocket.accept", "subprotocol": _subprotocol(answer or {})})
        await self._converse(connection, receive, send)

    async def _authorise(self, connection: SocketConnection) -> tuple[dict[str, Any], int]:
        """What the authorizer says of the caller, or the status of its refusal."""
        authorizer = self._routes["$connect"].authorizer
        if authorizer is None:
            return {}, 0
        event = connection.authorizer_event(now=self._clock(), request_id=str(uuid.uuid4()))
        function = self._invoker.application.functions[authorizer]
        outcome = await self._invoker.invoke(function, Invocation(str(uuid.uuid4()), json.dumps(event).encode()))
        answer = json.loads(outcome.payload)
        if outcome.error:
            # An authorizer that raises exactly this says that there is no valid token.
            return {}, 401 if answer.get("errorMessage") == "Unauthorized" else 500
        context = authorizer_context(answer)
        return (context, 0) if context is not None else ({}, 403)

    async def _converse(self, connection: SocketConnection, receive: Receive, send: Send) -> None:
        outbox = self._connections.open(connection.connection_id)
        writer = asyncio.create_task(_write(outbox, send))
        try:
            await self._read(connection, receive, outbox, writer)
        finally:
            self._connections.forget(connection.connection_id)
            await asyncio.gather(writer, return_exceptions=True)
            if "$disconnect" in self._routes:
                await self._invoke("$disconnect", self._event(connection, "DISCONNECT", "$disconnect"))

    async def _read(
        self, connection: SocketConnection, receive: Receive, outbox: "asyncio.Queue[str | None]", writer: Any
    ) -> None:
        while True:
            reading = asyncio.ensure_future(receive())
            await asyncio.wait({reading, writer}, timeout=_IDLE_S, return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                reading.cancel()
                with suppress(asyncio.CancelledError):
                    await reading
                return
            message = reading.result()
            if message["type"] == "websocket.disconnect":
                return
            body = message.get("text") or (message.get("bytes") or b"").decode("utf-8", "replace")
            if len(body.encode()) > _MESSAGE_LIMIT_BYTES:
                return
            route_key = route_of(body, frozenset(self._routes))
            request_id = str(uuid.uuid4())
            if route_key is None:
                outbox.put_nowait(failure_frame(connection.connection_id, request_id, "Forbidden"))
                continue
            if await self._invoke(route_key, self._event(connection, "MESSAGE", route_key, body)) is None:
                outbox.put_nowait(failure_frame(connection.connection_id, request_id, "Internal server error"))

    def _event(
        self, connection: SocketConnection, kind: Any, route_key: str, body: str | None = None
    ) -> dict[str, Any]:
        return connection.event(kind, route_key, now=self._clock(), request_id=str(uuid.uuid4()), body=body)

    async def _invoke(self, route_key: str, event: dict[str, Any]) -> dict[str, Any] | None:
        """What the handler of a route answers; None where it fails."""
        function = self._invoker.application.functions[self._routes[route_key].function]
        payload = json.dumps(event, ensure_ascii=False).encode()
        outcome = await self._invoker.invoke(function, Invocation(str(uuid.uuid4()), payload))
        answer = None if outcome.error else json.loads(outcome.payload)
        return answer if isinstance(answer, dict) else None  # pyright: ignore[reportUnknownVariableType]


async def _write(outbox: "asyncio.Queue[str | None]", send: Send) -> None:
    while (text := await outbox.get()) is not None:
        await send({"type": "websocket.send", "text": text})
    with suppress(RuntimeError, OSError):  # the client may have closed it
        await send({"type": "websocket.close", "code": _GOING_AWAY})


async def _refuse(scope: Scope, send: Send, status: int) -> None:
    if "websocket.http.response" in scope.get("extensions", {}):
        await send({"type": "websocket.http.response.start", "status": status, "headers": []})
        await send({"type": "websocket.http.response.body", "body": b""})
    else:
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION})


def _handshake(scope: Scope) -> Handshake:
    headers = {name.decode("latin-1").title(): value.decode("latin-1") for name, value in scope["headers"]}
    query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
    return Handshake(headers, query, (scope.get("client") or ("127.0.0.1", 0))[0])


def _subprotocol(answer: Mapping[str, Any]) -> str | None:
    headers: Mapping[str, Any] = answer.get("headers") or {}
    return next((str(value) for name, value in headers.items() if name.lower() == "sec-websocket-protocol"), None)
