"""What to say instead of an answer that Lambda could not carry."""

from typing import Any

from mcp_types import JSONRPCRequest

from satchel.api.entry import ResourceEntry, TemplateEntry, ToolEntry
from satchel.api.error_table import error_body, wire_of
from satchel.api.mcp.handlers import tool_error
from satchel.errors import TooLargeError


def oversize_answer(
    request: JSONRPCRequest, entry: ToolEntry | ResourceEntry | TemplateEntry | None, request_id: str
) -> dict[str, Any]:
    """Return the `result` or `error` member that stands in for an answer over 5.5 MB.

    It names the URI under which the same can be read in pages, where there is one.
    """
    paged = entry.paged_uri if isinstance(entry, ToolEntry | ResourceEntry) else None
    if isinstance(entry, TemplateEntry):
        paged = entry.uri_template
    advice = f"read it in pages: {paged}" if paged else "ask for less at a time"
    error = error_body(TooLargeError(f"the answer is over 5.5 MB; {advice}"), request_id)
    if request.method == "tools/call":
        return {"result": tool_error(error)}
    return {"error": {"code": wire_of(TooLargeError("")).json_rpc, "message": error["message"], "data": error}}
