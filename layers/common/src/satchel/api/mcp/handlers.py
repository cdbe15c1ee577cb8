"""Answers the MCP methods from the catalogue, with one function invocation for each call and each read."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NoReturn

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    GetPromptRequestParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
)
from pydantic import BaseModel

from satchel.api.catalogue import Catalogue
from satchel.api.entry import ResourceEntry, TemplateEntry, ToolEntry
from satchel.api.error_table import ERROR_TABLE, error_body
from satchel.api.json_text import compact_json
from satchel.api.mcp.exchange import Exchange
from satchel.api.mcp.functions import Functions, ask
from satchel.errors import SatchelError

Context = ServerRequestContext[Any, Any]
Result = dict[str, Any]
Handler = Callable[[Context, Any], Awaitable[Result]]

_JSON_RPC_CODES = {wire.code: wire.json_rpc for wire in ERROR_TABLE.values()}


class CatalogueHandlers:
    """The handlers of the low-level server.

    They return results as plain wire mappings: the SDK checks those against the protocol revision in use anyway.

    Args:
        catalogue: What is served.
        functions: Who serves it.
    """

    def __init__(self, catalogue: Catalogue, functions: Functions) -> None:
        self._catalogue = catalogue
        self._functions = functions
        self._written: dict[str, tuple[ToolEntry, dict[str, Any]]] = {}

    def by_method(self) -> tuple[tuple[str, type[BaseModel], Handler], ...]:
        """Return each method with the model of its parameters and its handler."""
        return (
            ("tools/list", PaginatedRequestParams, self.list_tools),
            ("tools/call", CallToolRequestParams, self.call_tool),
            ("resources/list", PaginatedRequestParams, self.list_resources),
            ("resources/templates/list", PaginatedRequestParams, self.list_templates),
            ("resources/read", ReadResourceRequestParams, self.read_resource),
            ("prompts/list", PaginatedRequestParams, self.list_prompts),
            ("prompts/get", GetPromptRequestParams, self.get_prompt),
        )

    async def list_tools(self, ctx: Context, params: PaginatedRequestParams | None) -> Result:
        """List the tools of the sets that the URL asked for, on one page."""
        _refuse_cursor(params)
        toolsets = _exchange(ctx).toolsets
        return _complete(tools=[self._wire(tool) for tool in self._catalogue.tools_of(toolsets)])

    def _wire(self, tool: ToolEntry) -> dict[str, Any]:
        """The tool as it is listed; written once, and again when it is another one (those of upstreams come and go)."""
        known = self._written.get(tool.name)
        if known is None or known[0] is not tool:
            known = self._written[tool.name] = (tool, _wire_tool(tool))
        return known[1]

    async def call_tool(self, ctx: Context, params: CallToolRequestParams) -> Result:
        """Call a tool; what goes wrong there is a result with `isError`, for the model to read."""
        exchange = _exchange(ctx)
        entry = self._catalogue.tool(params.name)
        if entry is None or entry.toolset not in exchange.toolsets:
            raise MCPError(code=INVALID_PARAMS, message=f"Unknown tool: {params.name}")
        try:
            request = {"tool": entry.name, "arguments": params.arguments or {}}
            answer = self._ask(entry, exchange, request)
        except SatchelError as error:
            return tool_error(error_body(error, exchange.request_id))
        if "error" in answer:
            return tool_error(answer["error"])
        structured = answer["structuredContent"]
        content = [{"type": "text", "text": compact_json(structured)}]
        return _complete(content=content, structuredContent=structured)

    async def list_resources(self, ctx: Context, params: PaginatedRequestParams | None) -> Result:
        """List the resources with a fixed URI, on one page."""
        del ctx
        _refuse_cursor(params)
        return _complete(resources=[{"uri": entry.uri, **_described(entry)} for entry in self._catalogue.resources])

    async def list_templates(self, ctx: Context, params: PaginatedRequestParams | None) -> Result:
        """List the families of resources, on one page."""
        del ctx
        _refuse_cursor(params)
        listed = [{"uriTemplate": entry.uri_template, **_described(entry)} for entry in self._catalogue.templates]
        return _complete(resourceTemplates=listed)

    async def read_resource(self, ctx: Context, params: ReadResourceRequestParams) -> Result:
        """Read a resource; what goes wrong there is a JSON-RPC error that carries our error object."""
        exchange, uri = _exchange(ctx), str(params.uri)
        try:
            entry = self._catalogue.resource(uri)
            if entry is None:
                raise MCPError(code=INVALID_PARAMS, message=f"Unknown resource: {uri}", data={"uri": uri})
            answer = self._ask(entry, exchange, {"resource": uri})
        except SatchelError as error:
            _raise_error(error_body(error, exchange.request_id))
        if "error" in answer:
            _raise_error(answer["error"])
        return _complete(contents=answer["contents"])

    async def list_prompts(self, ctx: Context, params: PaginatedRequestParams | None) -> Result:
        """List no prompts: clients ask for them, and an empty list tells more than an error."""
        del ctx
        _refuse_cursor(params)
        return _complete(prompts=[])

    async def get_prompt(self, ctx: Context, params: GetPromptRequestParams) -> Result:
        """Say that there is no such prompt."""
        del ctx
        raise MCPError(code=INVALID_PARAMS, message=f"Unknown prompt: {params.name}")

    def _ask(
        self, entry: ToolEntry | ResourceEntry | TemplateEntry, exchange: Exchange, request: Mapping[str, Any]
    ) -> dict[str, Any]:
        return ask(
            self._functions,
            entry,
            request,
            principal=exchange.principal,
            request_id=exchange.request_id,
            remaining_s=exchange.remaining_s(),
        )


def tool_error(error: Mapping[str, Any]) -> Result:
    """Return the tool result that tells `error`: a sentence for the model, the object for a program."""
    field, told = error.get("field"), error["message"]
    where = f" (field: {field})" if field and not told.startswith(field) else ""
    text = f"{error['code']}: {told}{where}"
    content = [{"type": "text", "text": text}]
    return _complete(isError=True, content=content, structuredContent={"error": dict(error)})


def _complete(**members: Any) -> Result:
    """Return a result that ends its request. `resultType` is of 2026-07-28; the SDK leaves it out for older clients."""
    return {**members, "resultType": "complete"}


def _exchange(ctx: Context) -> Exchange:
    exchange = ctx.request
    assert isinstance(exchange, Exchange)
    return exchange


def _refuse_cursor(params: PaginatedRequestParams | None) -> None:
    if params is not None and params.cursor is not None:
        raise MCPError(code=INVALID_PARAMS, message="Unknown cursor: the list has one page")


def _raise_error(error: Mapping[str, Any]) -> NoReturn:
    code = _JSON_RPC_CODES.get(str(error["code"]), INTERNAL_ERROR)
    raise MCPError(code=code, message=str(error["message"]), data=dict(error))


def _wire_tool(tool: ToolEntry) -> dict[str, Any]:
    hints = tool.hints
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": {
            "title": tool.title,
            "readOnlyHint": hints.read_only,
            "destructiveHint": hints.destructive,
            "idempotentHint": hints.idempotent,
            "openWorldHint": hints.open_world,
        },
    }


def _described(entry: ResourceEntry | TemplateEntry) -> dict[str, Any]:
    return {"name": entry.name, "description": entry.description, "mimeType": entry.mime_type}
