"""A user's MCP server as a turn sees it: messages saved, resources read, tools listed and called."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from satchel.agent.exchange import Stored
from satchel.agent.ports import ToolOutcome
from satchel.agent.routing import PLATFORM_SERVER, Tool
from satchel.errors import (
    ConflictError,
    DeadlineError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    RateLimitedError,
    SatchelError,
    TooLargeError,
    UnauthorizedError,
    UnavailableError,
)
from satchel.gateway.link import Link

if TYPE_CHECKING:
    from mcp import Client, MCPError

Result = TypeVar("Result")
PlatformTool = tuple[Tool, Callable[[Mapping[str, Any]], str]]

USER_SERVER = "user"
# Tools of servers that the user's server stands in front of have their server's name before this; their answers have
# been through the filter there.
_FROM_UPSTREAM = "__"
_ERRORS: Mapping[str, type[SatchelError]] = {
    "conflict": ConflictError,
    "forbidden": ForbiddenError,
    "invalid_input": InvalidInputError,
    "not_found": NotFoundError,
    "precondition_failed": PreconditionFailedError,
    "rate_limited": RateLimitedError,
    "timeout": DeadlineError,
    "too_large": TooLargeError,
    "unauthorized": UnauthorizedError,
    "unavailable": UnavailableError,
}
_QUESTION_CHARS = 2_000
# JSON-RPC's code for a request that is wrong, such as one for a tool that has gone.
_INVALID_PARAMS = -32602
_UNREACHABLE = "the user's MCP server does not answer; try again"
_UNREADABLE = "the user's MCP server gave an answer that cannot be read"


class McpUserServer:
    """The server of one user.

    Args:
        link: The way to it.
        platform: The gateway's own tools, each with what answers it.
    """

    def __init__(self, link: Link, *, platform: Sequence[PlatformTool]) -> None:
        self._link = link
        self._platform = platform

    async def save(self, session_id: str, message: Stored) -> None:
        """Save a message; see `UserServer.save`."""
        arguments = {
            "session_id": session_id,
            "message_id": message.message_id,
            "role": message.role,
            "content": message.content,
            "metadata": dict(message.metadata),
        }
        result = await self._ask(lambda client: client.call_tool("save_message", arguments))
        if result.is_error:
            content: Mapping[str, Any] = result.structured_content or {}
            raise _told(content.get("error"))

    async def read(self, uri: str) -> str:
        """The text of a resource; see `UserServer.read`."""
        result = await self._ask(lambda client: client.read_resource(uri))
        return "\n".join(str(getattr(content, "text", "")) for content in result.contents)

    async def tools(self) -> list[Sequence[Tool]]:
        """The tools of the user's server, then the platform's; see `UserServer.tools`."""
        tools: list[Tool] = []
        cursor: str | None = None
        while True:
            page = await self._ask(lambda client, at=cursor: client.list_tools(cursor=at))
            for tool in page.tools:
                read_only = bool(tool.annotations and tool.annotations.read_only_hint)
                tools.append(Tool(USER_SERVER, tool.name, tool.description or "", tool.input_schema, read_only))
            cursor = page.next_cursor
            if cursor is None:
                return [tools, [tool for tool, _ in self._platform]]

    async def call(self, tool: Tool, arguments: Mapping[str, Any], *, timeout_s: float) -> ToolOutcome:
        """Call a tool; see `UserServer.call`."""
        if tool.server == PLATFORM_SERVER:
            answer = next(answer for own, answer in self._platform if own.name == tool.name)
            return ToolOutcome(answer(arguments))
        try:
            async with asyncio.timeout(max(timeout_s, 0.1)):
                result = await self._ask(lambda client: client.call_tool(tool.name, dict(arguments)))
        except TimeoutError:
            return ToolOutcome("It did not answer in time; whether it took effect is not known.", is_error=True)
        except ForbiddenError as error:
            return ToolOutcome(f"The user's token does not allow this tool: {error.message}.", is_error=True)
        except SatchelError as error:
            return ToolOutcome(error.message, is_error=True)
        return ToolOutcome(_text_of(result), bool(result.is_error))

    async def reduce(self, tool: Tool, arguments: Mapping[str, Any], text: str, *, question: str) -> ToolOutcome:
        """What a tool answered, through the response filter; see `UserServer.reduce`."""
        if tool.server == PLATFORM_SERVER or _FROM_UPSTREAM in tool.name:
            return ToolOutcome(text)
        request = {
            "tool": {"name": tool.name, "description": tool.description},
            "arguments": dict(arguments),
            "response": _json_or_text(text),
            "question": question[:_QUESTION_CHARS],
        }
        try:
            result = await self._ask(lambda client: client.call_tool("filter_response", request))
        except SatchelError as error:
            return _withheld(error)
        filtered: Mapping[str, Any] = result.structured_content or {}
        if result.is_error or "data" not in filtered:
            return _withheld(_told(filtered.get("error")))
        data = filtered["data"]
        shown = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        if filtered.get("handle") and filtered.get("reduction"):
            shown += f"\n[shortened; what was cut is context://filtered/{filtered['handle']}]"
        return ToolOutcome(shown)

    async def _ask(self, ask: "Callable[[Client], Awaitable[Result]]") -> Result:
        """One request to the server, its failures as errors of ours."""
        import httpx2  # noqa: PLC0415 - heavy, and only where a server is spoken to
        from mcp import MCPError  # noqa: PLC0415 - as above

        client = await self._link.client()
        try:
            return await ask(client)
        except MCPError as error:
            raise _refused(error) from error
        except (httpx2.HTTPError, OSError) as error:
            raise UnavailableError(_UNREACHABLE) from error


def _text_of(result: Any) -> str:
    if result.structured_content is not None:
        return json.dumps(result.structured_content, ensure_ascii=False)
    return "\n".join(str(getattr(content, "text", f"[{content.type}]")) for content in result.content)


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _withheld(reason: SatchelError) -> ToolOutcome:
    told = f"It answered, but the answer could not be checked for secrets and is withheld: {reason.message}."
    return ToolOutcome(told, is_error=True)


def _told(error: Any) -> SatchelError:
    """The error that an error object of our server tells."""
    told = cast("Mapping[str, Any]", error or {})
    kind = _ERRORS.get(str(told.get("code")), UnavailableError)
    return kind(str(told.get("message") or _UNREADABLE), field=told.get("field"))


def _refused(error: "MCPError") -> SatchelError:
    """The error that a JSON-RPC error tells: by our error object where it carries one, or else by its code."""
    match error.error.data:
        case {"error": {"code": _} as told} | ({"code": _} as told):
            return _told(told)
        case _ if error.error.code == _INVALID_PARAMS:
            return InvalidInputError(error.error.message)
        case _:
            return UnavailableError(_UNREACHABLE)
