"""One POST to the MCP endpoint: JSON-RPC in, JSON-RPC out, for every protocol revision.

The SDK's streamable HTTP transport keeps tasks and streams between requests, which a function that is frozen
between them cannot. So each POST runs the SDK's single-exchange kernel once, and the rules around it (which the
specification's transport page states) are applied here. Nothing is remembered from one request to the next.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_one
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PARAM_HEADER_PREFIX,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundLadderRejection,
    classify_inbound_request,
    unsupported_protocol_version_rejection,
    validate_mcp_param_headers,
)
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data, progress_token_from_params
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, PROTOCOL_VERSION_META_KEY, JSONRPCRequest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError

from satchel.api.catalogue import Catalogue
from satchel.api.json_text import compact_json, is_oversize
from satchel.api.mcp.exchange import Exchange, SingleExchange
from satchel.api.mcp.oversize import oversize_answer
from satchel.api.strict_json import parse_json
from satchel.errors import ForbiddenError, InvalidInputError, SatchelError

# What a client of a handshake revision speaks when it does not say (specification of 2025-06-18, transports).
_UNSAID_VERSION = "2025-03-26"
_PARAM_HEADER_PREFIX = MCP_PARAM_HEADER_PREFIX.lower()


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back: a status, the headers and a body that is text.

    Attributes:
        status: HTTP status.
        headers: Names in lower case.
        body: Empty for a notification.
        failure: What went wrong on our side, for the log.
    """

    status: int
    headers: Mapping[str, str]
    body: str
    failure: Exception | None = None


class McpEndpoint:
    """The MCP endpoint over one server.

    Args:
        server: Holds the handlers.
        catalogue: Tells which scope a call or a read needs.
    """

    def __init__(self, server: Server[Any], catalogue: Catalogue) -> None:
        self._server = server
        self._catalogue = catalogue

    async def post(self, headers: Mapping[str, str], body: bytes, exchange: Exchange) -> Answer:
        """Answer one POST.

        Args:
            headers: Names in lower case.
            body: As sent.
            exchange: Who asks, and how long there is.

        Raises:
            ForbiddenError: The token lacks the scope that the tool or resource needs. Everything else that may go
                wrong is an answer.
        """
        decoded = _decoded(body)
        if isinstance(decoded, Answer):
            return decoded
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        modern = (version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS) or _has_envelope(decoded)
        if "id" not in decoded or "method" not in decoded:
            return _acknowledge(decoded, version or _UNSAID_VERSION, modern=modern)
        try:
            request = JSONRPCRequest.model_validate(decoded)
        except ValidationError:
            return _INVALID_BODY
        self._require_scope(request, exchange.principal.scopes)
        if modern:
            return await self._modern(request, decoded, headers, exchange)
        connection = Connection.from_envelope(version or _UNSAID_VERSION, None, None)
        return await self._run(request, connection, headers, exchange, modern=False)

    async def _modern(
        self, request: JSONRPCRequest, decoded: dict[str, Any], headers: Mapping[str, str], exchange: Exchange
    ) -> Answer:
        route = classify_inbound_request(decoded, headers=headers)
        if isinstance(route, InboundLadderRejection):
            return _rejection(route, request.id)
        if (rejected := self._check_param_headers(request, headers)) is not None:
            return _rejection(rejected, request.id)
        connection = Connection.from_envelope(route.protocol_version, route.client_info, route.client_capabilities)
        return await self._run(request, connection, headers, exchange, modern=True)

    async def _run(
        self,
        request: JSONRPCRequest,
        connection: Connection,
        headers: Mapping[str, str],
        exchange: Exchange,
        *,
        modern: bool,
    ) -> Answer:
        context = SingleExchange(
            transport=TransportContext(kind="streamable-http", can_send_request=False, headers=headers),
            request_id=request.id,
            message_metadata=ServerMessageMetadata(request_context=exchange),
            progress_token=progress_token_from_params(request.params),
        )
        failure: Exception | None = None
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": request.id}
        status = 200
        try:
            reply["result"] = await serve_one(
                self._server, context, request.method, request.params, connection=connection, lifespan_state={}
            )
        except Exception as error:  # noqa: BLE001 - the edge of the protocol: every failure is told as JSON-RPC
            told = handler_exception_to_error_data(error)
            if told is None:
                failure = error
                reply["error"] = {"code": INTERNAL_ERROR, "message": "Internal server error"}
            else:
                reply["error"] = told.model_dump(mode="json", by_alias=True, exclude_none=True)
                # Clients of the handshake revisions look for JSON-RPC errors in a 200.
                status = ERROR_CODE_HTTP_STATUS.get(told.code, 200) if modern else 200
        text = compact_json(reply)
        if is_oversize(text):
            entry = self._entry(request)
            reply = {"jsonrpc": "2.0", "id": request.id, **oversize_answer(request, entry, exchange.request_id)}
            text = compact_json(reply)
        return _written(status, text, context.notifications, headers, failure)

    def _check_param_headers(
        self, request: JSONRPCRequest, headers: Mapping[str, str]
    ) -> InboundLadderRejection | None:
        """Compare `Mcp-Param-*` headers with the arguments, where the tool's schema asks for such headers."""
        lookup = self._server.get_tool_input_schema
        params = request.params or {}
        name, arguments = params.get("name"), cast("Any", params.get("arguments") or {})
        if request.method != "tools/call" or lookup is None or not isinstance(name, str):
            return None
        if not isinstance(arguments, Mapping):
            return None
        if not arguments and not any(header.startswith(_PARAM_HEADER_PREFIX) for header in headers):
            return None
        schema = lookup(name)
        return validate_mcp_param_headers(schema, cast("Mapping[str, Any]", arguments), headers) if schema else None

    def _require_scope(self, request: JSONRPCRequest, scopes: frozenset[str]) -> None:
        entry = self._entry(request)
        if entry is not None and entry.scope not in scopes:
            raise ForbiddenError(f"this needs the scope {entry.scope}", scope=entry.scope)

    def _entry(self, request: JSONRPCRequest) -> Any:
        """The entry of the catalogue that a request is about; None for every other request."""
        params = request.params or {}
        try:
            match request.method, params:
                case "tools/call", {"name": str(name)}:
                    return self._catalogue.tool(name)
                case "resources/read", {"uri": str(uri)}:
                    return self._catalogue.resource(uri)
                case _:
                    return None
        except SatchelError:  # a URI that no resource can have: the handler says so
            return None


def _decoded(body: bytes) -> dict[str, Any] | Answer:
    """Read a JSON-RPC object, or say what is wrong with the body."""
    try:
        message: object = parse_json(body)
    except InvalidInputError as error:
        return _rejection(InboundLadderRejection(PARSE_ERROR, f"Parse error: {error.message}"), None)
    if not isinstance(message, dict):
        return _INVALID_BODY
    decoded = cast("dict[str, Any]", message)
    return decoded if decoded.get("jsonrpc") == "2.0" else _INVALID_BODY


def _acknowledge(message: Mapping[str, Any], version: str, *, modern: bool) -> Answer:
    """Take a notification, or (from a client of the old revisions) an answer; there is nothing to do for either."""
    if "method" in message:
        if not isinstance(message["method"], str):
            return _INVALID_BODY
        unsupported = unsupported_protocol_version_rejection(version) if modern else None
        return _rejection(unsupported, None) if unsupported is not None else Answer(202, {}, "")
    answers = "id" in message and ("result" in message or "error" in message)
    return Answer(202, {}, "") if answers and not modern else _INVALID_BODY


def _has_envelope(message: Mapping[str, Any]) -> bool:
    """Whether a body speaks a revision that carries its version in every request."""
    match message:
        case {"params": {"_meta": {**meta}}}:
            return PROTOCOL_VERSION_META_KEY in meta
        case _:
            return False


def _rejection(rejection: InboundLadderRejection, request_id: Any) -> Answer:
    error: dict[str, Any] = {"code": rejection.code, "message": rejection.message}
    if rejection.data is not None:
        error["data"] = rejection.data
    text = compact_json({"jsonrpc": "2.0", "id": request_id, "error": error})
    return Answer(ERROR_CODE_HTTP_STATUS.get(rejection.code, 200), {"content-type": "application/json"}, text)


_INVALID_BODY = _rejection(
    InboundLadderRejection(INVALID_REQUEST, "The body must be a single JSON-RPC request or notification"), None
)


def _written(
    status: int, text: str, notifications: list[dict[str, Any]], headers: Mapping[str, str], failure: Exception | None
) -> Answer:
    """Dress the reply: JSON, or a whole event stream where the client takes one and it is needed."""
    takes_json, takes_stream = accepted(headers.get("accept"))
    if not takes_stream or (takes_json and not notifications):
        return Answer(status, {"content-type": "application/json"}, text, failure)
    messages = [*(compact_json(notification) for notification in notifications), text]
    events = "".join(f"event: message\r\ndata: {message}\r\n\r\n" for message in messages)
    return Answer(status, {"content-type": "text/event-stream", "cache-control": "no-cache"}, events, failure)


def accepted(accept: str | None) -> tuple[bool, bool]:
    """Return whether an `Accept` header takes JSON, and whether it takes an event stream. No header takes JSON."""
    ranges = {part.split(";", 1)[0].strip().lower() for part in (accept or "*/*").split(",")}
    takes_json = not ranges.isdisjoint({"*/*", "application/*", "application/json"})
    return takes_json, not ranges.isdisjoint({"text/*", "text/event-stream"})
