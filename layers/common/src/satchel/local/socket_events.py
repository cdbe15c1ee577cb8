"""The events of a WebSocket API, and what its authorizer and handlers answer.

https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-websocket-api-integration-requests.html
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, cast

from satchel.local.cloudformation import ACCOUNT_ID, REGION
from satchel.local.gateway_events import API_ID, claim_text

EventType = Literal["CONNECT", "MESSAGE", "DISCONNECT"]
_PRINCIPAL = "principalId"


@dataclass(frozen=True)
class Handshake:
    """The request that opens a connection; header names are as sent."""

    headers: Mapping[str, str]
    query: Mapping[str, str]
    source_ip: str


@dataclass(frozen=True)
class SocketConnection:
    """An open connection, as its events tell of it.

    Attributes:
        connection_id: Its id.
        connected_at: Since when.
        stage: The stage's name.
        handshake: How it began.
        authorizer: What the authorizer said of the caller.
    """

    connection_id: str
    connected_at: datetime
    stage: str
    handshake: Handshake
    authorizer: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def event(
        self, kind: EventType, route_key: str, *, now: datetime, request_id: str, body: str | None = None
    ) -> dict[str, Any]:
        """The event of something that happens on it."""
        host = next((value for name, value in self.handshake.headers.items() if name.lower() == "host"), "localhost")
        context: dict[str, Any] = {
            "routeKey": route_key,
            "eventType": kind,
            "extendedRequestId": request_id,
            "requestTime": now.strftime("%d/%b/%Y:%H:%M:%S +0000"),
            "requestTimeEpoch": int(now.timestamp() * 1000),
            "messageDirection": "IN",
            "stage": self.stage,
            "connectedAt": int(self.connected_at.timestamp() * 1000),
            "identity": {"sourceIp": self.handshake.source_ip},
            "requestId": request_id,
            "domainName": host,
            "connectionId": self.connection_id,
            "apiId": API_ID,
        }
        if self.authorizer:
            context["authorizer"] = dict(self.authorizer)
        event: dict[str, Any] = {"requestContext": context, "isBase64Encoded": False}
        if kind == "MESSAGE":
            return {**event, "body": body or ""}
        event["headers"] = dict(self.handshake.headers)
        event["multiValueHeaders"] = {name: [value] for name, value in self.handshake.headers.items()}
        if kind == "CONNECT" and self.handshake.query:
            event["queryStringParameters"] = dict(self.handshake.query)
        return event

    def authorizer_event(self, *, now: datetime, request_id: str) -> dict[str, Any]:
        """What a `REQUEST` authorizer is asked."""
        event = self.event("CONNECT", "$connect", now=now, request_id=request_id)
        arn = f"arn:aws:execute-api:{REGION}:{ACCOUNT_ID}:{API_ID}/{self.stage}/$connect"
        return {**event, "type": "REQUEST", "methodArn": arn}


def authorizer_context(answer: Any) -> dict[str, Any] | None:
    """What an authorizer's answer says of the caller; None where it lets nobody in."""
    policy = cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}
    document = cast("dict[str, Any]", policy.get("policyDocument") or {})
    statements = cast("list[dict[str, Any]]", document.get("Statement") or [])
    effects = {statement.get("Effect") for statement in statements}
    if _PRINCIPAL not in policy or effects != {"Allow"}:
        return None
    context = cast("dict[str, Any]", policy.get("context") or {})
    return {_PRINCIPAL: policy[_PRINCIPAL], **{name: claim_text(value) for name, value in context.items()}}


def route_of(body: str, route_keys: frozenset[str]) -> str | None:
    """The route of a message under `$request.body.type`; None where there is none for it."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    named = cast("dict[str, Any]", value).get("type") if isinstance(value, dict) else None
    if isinstance(named, str) and named in route_keys and not named.startswith("$"):
        return named
    return "$default" if "$default" in route_keys else None


def failure_frame(connection_id: str, request_id: str, message: str) -> str:
    """What the gateway itself sends when a message leads nowhere."""
    return json.dumps({"message": message, "connectionId": connection_id, "requestId": request_id})
