"""The events of the WebSocket API, and the frames that go over it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, cast

from satchel.api.error_table import error_body
from satchel.api.handler import Call, Handler, LambdaContext
from satchel.api.json_text import compact_json
from satchel.api.principal import Principal
from satchel.api.request_log import log_request
from satchel.errors import UnauthorizedError

_BEARER = "bearer."
_PROTOCOL = "sec-websocket-protocol"


@dataclass(frozen=True)
class SocketRequest:
    """Something that happens on a connection.

    Attributes:
        route: `$connect`, `$disconnect`, a frame's `type`, or `$default`.
        connection_id: The connection.
        body: The frame, as text.
        protocols: The sub-protocols that the client offers, when it connects.
    """

    route: str
    connection_id: str
    body: str
    protocols: tuple[str, ...]


def offered_protocols(event: Mapping[str, Any]) -> tuple[str, ...]:
    """The sub-protocols that a client offers."""
    headers = cast("Mapping[str, Any]", event.get("headers") or {})
    text = next((str(value) for name, value in headers.items() if name.lower() == _PROTOCOL), "")
    return tuple(part.strip() for part in text.split(",") if part.strip())


def authorization_of(event: Mapping[str, Any]) -> str | None:
    """The `Authorization` header of a handshake, or what stands for it: a browser can only offer a sub-protocol."""
    headers = cast("Mapping[str, Any]", event.get("headers") or {})
    given = next((str(value) for name, value in headers.items() if name.lower() == "authorization"), None)
    offered = next((name for name in offered_protocols(event) if name.startswith(_BEARER)), None)
    return given or (f"Bearer {offered.removeprefix(_BEARER)}" if offered else None)


def accept(protocols: tuple[str, ...]) -> dict[str, Any]:
    """The answer to a handshake; names a sub-protocol of those offered, as clients demand, rather not the token."""
    chosen = next((name for name in protocols if not name.startswith(_BEARER)), next(iter(protocols), None))
    return {"statusCode": 200, "headers": {"Sec-WebSocket-Protocol": chosen} if chosen else {}}


def allow(principal: Principal, method_arn: str) -> dict[str, Any]:
    """An authorizer's answer that lets `principal` in; what it says here comes back with every event."""
    statement = {"Action": "execute-api:Invoke", "Effect": "Allow", "Resource": method_arn}
    return {
        "principalId": principal.user_id,
        "policyDocument": {"Version": "2012-10-17", "Statement": [statement]},
        "context": {"scope": " ".join(sorted(principal.scopes))},
    }


def frame(kind: str, **fields: Any) -> str:
    """A frame to the client."""
    return compact_json({"type": kind, **fields})


def socket(
    name: str, *, send: Callable[[str, str], None]
) -> Callable[[Callable[[SocketRequest, Call], dict[str, Any]]], Handler]:
    """Make a handler of a function that serves routes of the WebSocket API; errors go to the client as frames.

    Args:
        name: The function's name, for the log.
        send: Sends a frame to a connection.
    """

    def decorate(function: Callable[[SocketRequest, Call], dict[str, Any]]) -> Handler:
        def handle(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
            started = perf_counter()
            told: dict[str, Any] = event["requestContext"]
            request_id = str(told.get("requestId") or context.aws_request_id)
            request = SocketRequest(
                str(told["routeKey"]), str(told["connectionId"]), str(event.get("body") or ""), offered_protocols(event)
            )
            failure: Exception | None = None
            answer: dict[str, Any] = {"statusCode": 200}
            try:
                principal = _principal(told)
                answer = function(request, Call(principal, request_id, context.get_remaining_time_in_millis))
            except Exception as error:  # noqa: BLE001 - the edge of the socket: every error is told here
                failure = error
                if request.route in ("$connect", "$disconnect"):
                    answer = {"statusCode": 500}
                else:
                    send(request.connection_id, frame("error", error=error_body(error, request_id)))
            duration_ms = (perf_counter() - started) * 1000
            log_request(function=name, request_id=request_id, duration_ms=duration_ms, error=failure)
            return answer

        return handle

    return decorate


def _principal(context: Mapping[str, Any]) -> Principal:
    authorizer = cast("Mapping[str, Any]", context.get("authorizer") or {})
    if not authorizer.get("principalId"):
        raise UnauthorizedError("nobody has verified who is connected")
    return Principal(str(authorizer["principalId"]), frozenset(str(authorizer.get("scope", "")).split()))
