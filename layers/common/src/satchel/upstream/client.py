"""Speaks MCP to upstream servers, with the official SDK's client.

A connection lives for one piece of work: a function is frozen between requests, and a program or a stream would not
survive that.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar, cast

from satchel.errors import DeadlineError, UnavailableError
from satchel.upstream.configuration import Upstream
from satchel.upstream.results import UpstreamAnswer, read_result

if TYPE_CHECKING:
    from mcp import Client

Value = TypeVar("Value")
Ask = Callable[[Mapping[str, Any]], UpstreamAnswer]
_MAX_LIST_PAGES = 20


def list_tools(upstream: Upstream) -> list[dict[str, Any]]:
    """The tools of a server in their wire form, at most 20 pages of them.

    Raises:
        UnavailableError: It cannot be reached.
        DeadlineError: It does not answer in its time.
    """

    async def work(client: "Client") -> list[dict[str, Any]]:
        tools: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(_MAX_LIST_PAGES):
            page = await client.list_tools(cursor=cursor)
            tools += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                break
        return tools

    return _run(upstream, work)


def with_tool(upstream: Upstream, tool: str, use: Callable[[Ask], Value]) -> Value:
    """What `use` makes of a tool; it is handed what calls the tool, over one connection.

    Raises:
        UnavailableError: The server cannot be reached, or refuses the request.
        DeadlineError: It does not answer in its time.
    """

    async def work(client: "Client") -> Value:
        loop = asyncio.get_running_loop()

        async def call(arguments: Mapping[str, Any]) -> UpstreamAnswer:
            result = await client.call_tool(tool, dict(arguments))
            return read_result(result.model_dump(mode="json", by_alias=True, exclude_none=True))

        def ask(arguments: Mapping[str, Any]) -> UpstreamAnswer:
            return asyncio.run_coroutine_threadsafe(call(arguments), loop).result()

        return await asyncio.to_thread(use, ask)

    return _run(upstream, work)


def _run(upstream: Upstream, work: "Callable[[Client], Awaitable[Value]]") -> Value:
    from mcp.shared.exceptions import MCPError  # noqa: PLC0415 - half a second of import, only with upstreams

    async def connected(silence: TextIO) -> Value:
        async with asyncio.timeout(upstream.timeout_s), _connect(upstream, silence) as client:
            return await work(client)

    try:
        # What a program writes to its error stream may hold anything, and ours is a log.
        with Path(os.devnull).open("w", encoding="utf-8") as silence:
            return asyncio.run(connected(silence))
    except TimeoutError as error:
        raise DeadlineError(f"the upstream server {upstream.name} did not answer in time") from error
    except MCPError as error:
        raise UnavailableError(f"the upstream server {upstream.name} refused the request") from error
    except (OSError, ExceptionGroup) as error:
        raise _told(upstream, error) from error


def _told(upstream: Upstream, error: BaseException) -> Exception:
    """What a failure means; the SDK's task groups wrap it, and our own errors come through them."""
    inner = error
    while isinstance(inner, BaseExceptionGroup):
        inner = cast("BaseExceptionGroup[BaseException]", inner).exceptions[0]
    if isinstance(inner, TimeoutError):
        return DeadlineError(f"the upstream server {upstream.name} did not answer in time")
    return UnavailableError(f"the upstream server {upstream.name} cannot be reached")


@asynccontextmanager
async def _connect(upstream: Upstream, silence: TextIO) -> "AsyncGenerator[Client]":
    from mcp import Client, StdioServerParameters  # noqa: PLC0415
    from mcp.client.stdio import stdio_client  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415
    from mcp.shared._httpx_utils import create_mcp_http_client  # noqa: PLC0415

    async with AsyncExitStack() as stack:
        if upstream.command:
            program = StdioServerParameters(
                command=upstream.command, args=list(upstream.args), env=dict(upstream.env) or None
            )
            server = stdio_client(program, errlog=silence)
        else:
            http = await stack.enter_async_context(create_mcp_http_client(headers=dict(upstream.headers)))
            server = streamable_http_client(upstream.url, http_client=http)
        yield await stack.enter_async_context(Client(server, read_timeout_seconds=upstream.timeout_s))
