"""The official SDK's client against the adapter over real HTTP, in both eras."""

import asyncio

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.support.lambda_front import serving

SAVE = {"role": "user", "content": "안녕 😀", "session_id": "s-1"}
STORED = {
    "message": {
        "message_id": "m-1",
        "session_id": "s-1",
        "role": "user",
        "content": "안녕 😀",
        "created_at": "2026-01-01T00:00:00Z",
        "metadata": {},
    },
    "duplicate": False,
}


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_sdk_client_lists_calls_and_reads(bench, mode):
    bench.functions.answers["save_message"] = {"structuredContent": STORED}
    text = {"uri": "context://user-profile", "mimeType": "text/plain", "text": "User Profile:"}
    bench.functions.answers["user_profile"] = {"contents": [text]}

    async def use(url):
        headers = {"Authorization": f"Bearer {bench.token()}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode) as client,
        ):
            tools = (await client.list_tools()).tools
            saved = await client.call_tool("save_message", SAVE)
            refused = None
            bench.functions.answers["save_message"] = {
                "error": {"code": "invalid_input", "field": "role", "message": "no", "request_id": "r"}
            }
            refused = await client.call_tool("save_message", {})
            resources = (await client.list_resources()).resources
            templates = (await client.list_resource_templates()).resource_templates
            profile = await client.read_resource("context://user-profile")
            return client.protocol_version, tools, saved, refused, resources, templates, profile

    with serving(bench.adapter.handle) as base:
        version, tools, saved, refused, resources, templates, profile = asyncio.run(use(base + "/mcp"))
    assert version == ("2026-07-28" if mode == "2026-07-28" else "2025-11-25")
    assert tools[0].name == "save_message"
    assert saved.structured_content == STORED
    assert refused.is_error
    assert refused.structured_content["error"]["field"] == "role"
    assert len(resources) >= 4
    assert len(templates) >= 1
    assert profile.contents[0].text == "User Profile:"
