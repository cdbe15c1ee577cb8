"""The way to the user's MCP server where nobody serves."""

import asyncio
import socket

import pytest

from satchel.agent.exchange import Stored
from satchel.agent.ports import ToolOutcome
from satchel.agent.routing import Tool
from satchel.errors import UnavailableError
from satchel.gateway.link import Link
from satchel.gateway.user_server import McpUserServer


@pytest.fixture
def nowhere():
    """A URL that nobody listens at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"


def test_a_server_that_is_down_is_unavailable_and_a_call_of_its_tools_has_failed(nowhere):
    async def run():
        server = McpUserServer(Link(nowhere), platform=())
        with pytest.raises(UnavailableError, match="does not answer"):
            await server.save("s", Stored("m", "user", "hello"))
        with pytest.raises(UnavailableError):
            await server.read("context://user-profile")
        tool = Tool("user", "look", "Look.", {"type": "object"})
        outcome = await server.call(tool, {}, timeout_s=5)
        assert outcome == ToolOutcome("the user's MCP server does not answer; try again", is_error=True)

    asyncio.run(run())
