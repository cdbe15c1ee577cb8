"""The two ways a function is invoked, made one: what is asked, by whom, and how the answer is dressed.

Direct (Lambda `Invoke`, by the MCP adapter or from a file in `events/`)::

    {"principal": {"user_id": "alice", "scopes": ["context:write"]}, "arguments": {...}, "request_id": "..."}
    {"principal": {...}, "resource": "context://user-profile", "request_id": "..."}

HTTPS: an API Gateway event (HTTP API v2 or REST v1) whose JWT authorizer has verified the token.
An event that API Gateway made always has `requestContext`, and a caller cannot add fields beside it, so nobody
can hand in a `principal` of their own over HTTPS.
"""

import base64
import binascii
from dataclasses import dataclass
from typing import Any, Protocol, cast

from satchel.api.error_table import error_body, wire_of
from satchel.api.json_text import compact_json, is_oversize
from satchel.api.principal import Principal, principal_of
from satchel.api.strict_json import parse_json
from satchel.errors import InvalidInputError, RetryableError, TooLargeError, UnauthorizedError


class Envelope(Protocol):
    """One request and the dress of its answer."""

    @property
    def request_id(self) -> str:
        """Names the request in logs and errors."""
        ...

    def principal(self) -> Principal:
        """Who is asking. Raises UnauthorizedError where nobody has verified that."""
        ...

    def arguments(self) -> Any:
        """The JSON value sent. Raises InvalidInputError where it is not JSON."""
        ...

    def query(self) -> dict[str, Any]:
        """The query parameters of a GET route."""
        ...

    def resource(self) -> str:
        """The URI asked for. Raises InvalidInputError where there is none."""
        ...

    def succeed(self, key: str, value: Any) -> dict[str, Any]:
        """The answer that carries `value`, under `key` where the caller is a program of ours."""
        ...

    def fail(self, error: BaseException) -> dict[str, Any]:
        """The answer that tells `error`."""
        ...


@dataclass(frozen=True)
class DirectEnvelope:
    """A Lambda invocation by the adapter or from the command line."""

    event: dict[str, Any]
    request_id: str

    def principal(self) -> Principal:
        """The principal the invoker has verified."""
        given = _object(self.event.get("principal"))
        if not given.get("user_id"):
            raise UnauthorizedError("the invocation names no principal")
        return Principal(str(given["user_id"]), frozenset(given.get("scopes", ())))

    def arguments(self) -> Any:
        """The arguments, already JSON."""
        return self.event.get("arguments", {})

    def query(self) -> dict[str, Any]:
        """What stands under `query`."""
        return _object(self.event.get("query"))

    def resource(self) -> str:
        """The URI."""
        uri = self.event.get("resource")
        if not isinstance(uri, str):
            raise InvalidInputError("resource must be a URI", field="resource")
        return uri

    def succeed(self, key: str, value: Any) -> dict[str, Any]:
        """`value` under `key`."""
        return {key: value}

    def fail(self, error: BaseException) -> dict[str, Any]:
        """The error object under `error`."""
        return {"error": error_body(error, self.request_id)}


@dataclass(frozen=True)
class HttpEnvelope:
    """An API Gateway event."""

    event: dict[str, Any]
    request_id: str

    def principal(self) -> Principal:
        """The subject and scopes of the token that API Gateway's authorizer verified."""
        authorizer = _object(_object(self.event["requestContext"]).get("authorizer"))
        claims = _object(_object(authorizer.get("jwt")).get("claims") or authorizer.get("claims"))
        subject = claims.get("sub")
        if not subject:
            raise UnauthorizedError("a bearer token is needed")
        return principal_of(subject, claims.get("scope"))

    def arguments(self) -> Any:
        """The JSON body; an empty one is an empty object."""
        text = http_body(self.event)
        return parse_json(text) if text.strip() else {}

    def query(self) -> dict[str, Any]:
        """The parameters of the query string."""
        return _object(self.event.get("queryStringParameters"))

    def resource(self) -> str:
        """The `uri` parameter of the query string."""
        uri = _object(self.event.get("queryStringParameters")).get("uri")
        if not uri:
            raise InvalidInputError("uri is needed", field="uri")
        return str(uri)

    def succeed(self, key: str, value: Any) -> dict[str, Any]:
        """200 with `value` as the body (resources keep their `contents` key, as MCP writes it).

        Raises:
            TooLargeError: It is over 5.5 MB, which is more than Lambda carries.
        """
        answer = json_response(200, {key: value} if key == "contents" else value)
        if is_oversize(answer["body"]):
            raise TooLargeError("the answer is over 5.5 MB; ask for less at a time")
        return answer

    def fail(self, error: BaseException) -> dict[str, Any]:
        """The status of the error table with the error object under `error`."""
        headers = {"retry-after": str(error.retry_after_s)} if isinstance(error, RetryableError) else {}
        return json_response(wire_of(error).status, {"error": error_body(error, self.request_id)}, headers)


def open_envelope(event: dict[str, Any], invocation_id: str) -> Envelope:
    """The envelope of `event`; its request id is API Gateway's or the adapter's, else the invocation's."""
    if isinstance(event.get("requestContext"), dict):
        return HttpEnvelope(event, str(_object(event["requestContext"]).get("requestId") or invocation_id))
    return DirectEnvelope(event, str(event.get("request_id") or invocation_id))


def http_body(event: dict[str, Any]) -> bytes:
    """The body of an API Gateway event, decoded where it came as base64.

    Raises:
        InvalidInputError: It says it is base64 and is not.
    """
    body = event.get("body") or ""
    if not event.get("isBase64Encoded"):
        return body.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInputError("the body is not base64") from error


def json_response(status: int, body: Any, headers: dict[str, str] | None = None) -> dict[str, Any]:
    """An answer as API Gateway wants it, with a JSON body."""
    return {
        "statusCode": status,
        "headers": {"content-type": "application/json", **(headers or {})},
        "body": compact_json(body),
        "isBase64Encoded": False,
    }


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
