"""What an MCP server refuses with an HTTP status, told in the JSON-RPC error that the SDK's client reads.

The authorization rules of MCP ask for a plain 403 where a scope is missing, and API Gateway answers some requests
itself. Of such answers the SDK's client keeps nothing but that there was one.
"""

import json
from http import HTTPStatus
from typing import Any, cast

import httpx2
from mcp_types import INTERNAL_ERROR

_BAD = HTTPStatus.BAD_REQUEST
# Where the body is not ours: what the status alone says. The 6 MB are Lambda's, for a request that waits.
_BY_STATUS = {
    HTTPStatus.UNAUTHORIZED: ("unauthorized", "the user's MCP server does not accept the user's token"),
    HTTPStatus.FORBIDDEN: ("forbidden", "the user's MCP server does not allow this"),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: (
        "too_large",
        "the request is over the 6 MB that the user's MCP server takes; send less at a time",
    ),
    HTTPStatus.TOO_MANY_REQUESTS: ("rate_limited", "the user's MCP server is asked too often; wait, then try again"),
}


class RefusalReader(httpx2.AsyncClient):
    """An HTTP client whose answers over 400 are JSON-RPC errors with our error object as `data`, where one is known."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request; see the base class."""
        response = await super().send(request, **options)
        if response.status_code < _BAD:
            return response
        body = await response.aread()
        error = error_of(response.status_code, body)
        if error is None:
            return response
        told = {"code": INTERNAL_ERROR, "message": error["message"], "data": {"error": error}}
        return httpx2.Response(
            response.status_code, json={"jsonrpc": "2.0", "id": None, "error": told}, request=response.request
        )


def error_of(status: int, body: bytes) -> dict[str, Any] | None:
    """The error object that a refusal tells, or its status does; None for JSON-RPC, and where nothing is known."""
    try:
        decoded: Any = json.loads(body)
    except ValueError:
        decoded = {}
    whole = cast("dict[str, Any]", decoded) if isinstance(decoded, dict) else {}
    if "jsonrpc" in whole:
        return None
    error = whole.get("error")
    if isinstance(error, dict) and {"code", "message"} <= error.keys():
        return cast("dict[str, Any]", error)
    if status not in _BY_STATUS:
        return None
    code, message = _BY_STATUS[HTTPStatus(status)]
    return {"code": code, "field": None, "message": message}
