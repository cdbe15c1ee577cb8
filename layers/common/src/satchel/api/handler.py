"""Turns one plain function into a Lambda handler: the edge where requests are read and errors are told.

A function below this edge takes validated arguments and a `Call`, and returns a model. It does not know whether
it was invoked by the adapter or over HTTPS, and it maps no error.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from satchel.api.envelopes import Envelope, open_envelope
from satchel.api.gateway_request import GatewayRequest, gateway_request
from satchel.api.principal import Principal
from satchel.api.request_log import log_request
from satchel.api.resource_uri import match_uri
from satchel.api.validation import validate
from satchel.errors import ForbiddenError, NotFoundError

Arguments = TypeVar("Arguments", bound=BaseModel)
Handler = Callable[[dict[str, Any], Any], dict[str, Any]]


class LambdaContext(Protocol):
    """What we use of the context the Lambda runtime passes."""

    aws_request_id: str

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until this invocation is killed."""
        ...


@dataclass(frozen=True)
class Call:
    """One request below the edge.

    Attributes:
        principal: Who is asking.
        request_id: Names the request in logs and errors.
        remaining_ms: Milliseconds until the runtime kills this invocation.
    """

    principal: Principal
    request_id: str
    remaining_ms: Callable[[], int]

    @property
    def user_id(self) -> str:
        """The user every query of this request runs as."""
        return self.principal.user_id


@dataclass(frozen=True)
class Content:
    """The text of a resource and its MIME type."""

    text: str
    mime_type: str = "text/plain"


def tool(
    name: str, arguments: type[Arguments], *, scope: str
) -> Callable[[Callable[[Arguments, Call], BaseModel]], Handler]:
    """Make a handler of a function that serves the tool (or batch endpoint) `name`.

    Args:
        name: The name in the catalogue, also in the log.
        arguments: The model its arguments must fit.
        scope: What the caller's token must allow.
    """

    def decorate(function: Callable[[Arguments, Call], BaseModel]) -> Handler:
        def work(envelope: Envelope, call: Call) -> tuple[str, Any]:
            _require(scope, call.principal)
            result = function(validate(arguments, envelope.arguments()), call)
            return "structuredContent", result.model_dump(mode="json", by_alias=True)

        return _edge(name, _for_caller(work))

    return decorate


def resource(
    name: str, template: str, *, scope: str = "context:read"
) -> Callable[[Callable[[dict[str, str], Call], Content]], Handler]:
    """Make a handler of a function that reads the resource, or the family of resources, `template`.

    Args:
        name: The function's name, for the log.
        template: A URI (`context://user-profile`) or an RFC 6570 template of the forms in `resource_uri`.
        scope: What the caller's token must allow.
    """

    def decorate(function: Callable[[dict[str, str], Call], Content]) -> Handler:
        def work(envelope: Envelope, call: Call) -> tuple[str, Any]:
            _require(scope, call.principal)
            uri = envelope.resource()
            variables = match_uri(template, uri)
            if variables is None:
                raise NotFoundError("there is no resource of this URI", field="uri")
            content = function(variables, call)
            return "contents", [{"uri": uri, "mimeType": content.mime_type, "text": content.text}]

        return _edge(name, _for_caller(work))

    return decorate


def query_route(
    name: str, query: type[Arguments], *, scope: str
) -> Callable[[Callable[[Arguments, Call], BaseModel]], Handler]:
    """Make a handler of a function that answers a GET route.

    Args:
        name: The function's name, for the log.
        query: The model its query parameters must fit.
        scope: What the caller's token must allow.
    """

    def decorate(function: Callable[[Arguments, Call], BaseModel]) -> Handler:
        def work(envelope: Envelope, call: Call) -> tuple[str, Any]:
            _require(scope, call.principal)
            result = function(validate(query, envelope.query()), call)
            return "structuredContent", result.model_dump(mode="json", by_alias=True)

        return _edge(name, _for_caller(work))

    return decorate


def route(name: str, *, scope: str) -> Callable[[Callable[[GatewayRequest, Call], dict[str, Any]]], Handler]:
    """Make a handler of a function that serves routes of its own over HTTPS and makes its whole answer.

    Args:
        name: The function's name, for the log.
        scope: What the caller's token must allow.
    """

    def decorate(function: Callable[[GatewayRequest, Call], dict[str, Any]]) -> Handler:
        def handle(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
            def work(envelope: Envelope, context: LambdaContext) -> dict[str, Any]:
                principal = envelope.principal()
                _require(scope, principal)
                call = Call(principal, envelope.request_id, context.get_remaining_time_in_millis)
                request = gateway_request(event)
                request.check_path()
                return function(request, call)

            return _answering(name, event, context, work)

        return handle

    return decorate


def open_route(name: str) -> Callable[[Callable[[GatewayRequest], dict[str, Any]]], Handler]:
    """Make a handler of a function whose callers have no token of ours; it finds out itself who they are.

    Args:
        name: The function's name, for the log.
    """

    def decorate(function: Callable[[GatewayRequest], dict[str, Any]]) -> Handler:
        def handle(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
            return _answering(name, event, context, lambda _envelope, _context: function(gateway_request(event)))

        return handle

    return decorate


def probe(name: str, check: Callable[[], None]) -> Handler:
    """Make a handler that needs no caller: `{"status": "ok"}` when `check` returns, its error otherwise."""

    def work(_envelope: Envelope, _context: LambdaContext) -> tuple[str, Any]:
        check()
        return "structuredContent", {"status": "ok"}

    return _edge(name, work)


def _for_caller(
    work: Callable[[Envelope, Call], tuple[str, Any]],
) -> Callable[[Envelope, LambdaContext], tuple[str, Any]]:
    def run(envelope: Envelope, context: LambdaContext) -> tuple[str, Any]:
        return work(envelope, Call(envelope.principal(), envelope.request_id, context.get_remaining_time_in_millis))

    return run


def _edge(name: str, work: Callable[[Envelope, LambdaContext], tuple[str, Any]]) -> Handler:
    def handle(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        return _answering(name, event, context, lambda envelope, context: envelope.succeed(*work(envelope, context)))

    return handle


def _answering(
    name: str,
    event: dict[str, Any],
    context: LambdaContext,
    work: Callable[[Envelope, LambdaContext], dict[str, Any]],
) -> dict[str, Any]:
    started = perf_counter()
    envelope = open_envelope(event, context.aws_request_id)
    failure: Exception | None = None
    try:
        answer = work(envelope, context)
    except Exception as error:  # noqa: BLE001 - the one edge: every error is told here, and only here
        failure = error
        answer = envelope.fail(error)
    log_request(
        function=name,
        request_id=envelope.request_id,
        duration_ms=(perf_counter() - started) * 1000,
        error=failure,
    )
    return answer


def _require(scope: str, principal: Principal) -> None:
    if scope not in principal.scopes:
        raise ForbiddenError(f"this needs the scope {scope}", scope=scope)
