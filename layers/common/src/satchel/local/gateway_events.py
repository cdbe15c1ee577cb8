"""Translates between HTTP and Lambda's proxy events, payload format 2.0.

https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast
from urllib.parse import parse_qsl, unquote

from satchel.local.cloudformation import ACCOUNT_ID
from satchel.local.routing import Match

API_ID = "local"


@dataclass(frozen=True)
class HttpRequest:
    """One request; header names are lower case and may repeat, `path` and `query` are as sent."""

    method: str
    path: str
    query: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    source_ip: str
    protocol: str = "HTTP/1.1"

    def joined_headers(self) -> dict[str, str]:
        """Headers as a mapping, repeated ones joined with commas as API Gateway does."""
        joined: dict[str, str] = {}
        for name, value in self.headers:
            joined[name] = f"{joined[name]},{value}" if name in joined else value
        return joined


@dataclass(frozen=True)
class HttpResponse:
    """One answer; `cookies` are whole `Set-Cookie` values."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    cookies: Sequence[str] = field(default=())


def message(status: int, text: str, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """An answer of the gateway itself: `{"message": text}`."""
    body = json.dumps({"message": text}, separators=(",", ":")).encode()
    return HttpResponse(status, {"content-type": "application/json", **(headers or {})}, body)


def to_event(
    request: HttpRequest, match: Match, *, request_id: str, now: datetime, claims: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The event a function gets.

    Args:
        request: What came in.
        match: The route it belongs to.
        request_id: A new id.
        now: The time of arrival, aware.
        claims: The verified token's claims where the route has an authorizer; they arrive as strings.
    """
    headers = request.joined_headers()
    cookies = [part.strip() for part in headers.pop("cookie", "").split(";") if part.strip()]
    # API Gateway decodes the path before it hands it on, so `%3A` reaches the function as `:`.
    path = unquote(request.path)
    host = headers.get("host", "localhost")
    context: dict[str, Any] = {
        "accountId": ACCOUNT_ID,
        "apiId": API_ID,
        "domainName": host,
        "domainPrefix": host.split(".", 1)[0],
        "http": {
            "method": request.method,
            "path": path,
            "protocol": request.protocol,
            "sourceIp": request.source_ip,
            "userAgent": headers.get("user-agent", ""),
        },
        "requestId": request_id,
        "routeKey": match.route.key,
        "stage": "$default",
        "time": now.strftime("%d/%b/%Y:%H:%M:%S +0000"),
        "timeEpoch": int(now.timestamp() * 1000),
    }
    if claims is not None:
        texts = {name: claim_text(value) for name, value in claims.items()}
        context["authorizer"] = {"jwt": {"claims": texts, "scopes": list(match.route.scopes) or None}}
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": match.route.key,
        "rawPath": path,
        "rawQueryString": request.query,
        "headers": headers,
        "requestContext": context,
        "isBase64Encoded": False,
    }
    if cookies:
        event["cookies"] = cookies
    if request.query:
        event["queryStringParameters"] = _query_parameters(request.query)
    if match.path_parameters:
        event["pathParameters"] = dict(match.path_parameters)
    if request.body:
        text = _as_text(request.body, headers.get("content-type", ""))
        event["isBase64Encoded"] = text is None
        event["body"] = base64.b64encode(request.body).decode() if text is None else text
    return event


def claim_text(value: Any) -> str:
    """A claim as API Gateway hands it on: every value is text, a list reads `[a b]`."""
    match value:
        case bool():
            return str(value).lower()
        case list():
            return "[" + " ".join(claim_text(item) for item in cast("list[Any]", value)) + "]"
        case dict():
            return json.dumps(value, separators=(",", ":"))
        case _:
            return str(value)


def from_result(payload: bytes) -> HttpResponse:
    """The HTTP answer for what a function returned.

    An object without `statusCode`, or anything that is not an object, is the body of a 200 in JSON. What cannot be an
    answer is a 500, as from API Gateway.
    """
    failed = message(500, "Internal Server Error")
    try:
        result = json.loads(payload)
    except ValueError:
        return failed
    if not isinstance(result, dict) or "statusCode" not in result:
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        return HttpResponse(200, {"content-type": "application/json"}, text.encode())
    answer = cast("dict[str, Any]", result)
    body = answer.get("body") or ""
    if not isinstance(body, str):
        return failed
    headers = {"content-type": "text/plain;charset=UTF-8"}
    try:
        status = int(answer["statusCode"])
        content = base64.b64decode(body, validate=True) if answer.get("isBase64Encoded") else body.encode()
    except (TypeError, ValueError, binascii.Error):
        return failed
    for name, value in cast("dict[str, Any]", answer.get("headers") or {}).items():
        headers[str(name).lower()] = claim_text(value)
    return HttpResponse(status, headers, content, tuple(map(str, answer.get("cookies") or ())))


def _query_parameters(query: str) -> dict[str, str]:
    parameters: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        parameters[name] = f"{parameters[name]},{value}" if name in parameters else value
    return parameters


def _as_text(body: bytes, content_type: str) -> str | None:
    """The body as text; None where it travels in base64: binary types, and text that is not UTF-8."""
    kind = content_type.split(";", 1)[0].strip().lower()
    textual = kind.startswith("text/") or kind.endswith(("json", "xml", "javascript")) or not kind
    if not textual:
        return None
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None
