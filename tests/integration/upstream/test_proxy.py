"""An MCP client through the adapter to real upstream servers, and back with what was cut."""

import asyncio
import importlib
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from satchel import filter_wiring, upstream_wiring
from satchel.api.auth import KeySet, TokenVerifier
from satchel.api.listing import catalogue
from satchel.api.mcp.adapter import McpAdapter
from satchel.api.mcp.admission import Admission
from satchel.api.mcp.endpoint import McpEndpoint
from satchel.api.mcp.server import build_server
from satchel.api.mcp.upstreams import ProxyCatalogue, UpstreamTools
from satchel.expiring_cache import ExpiringCache
from satchel.local.identity import Identity
from tests.conftest import LambdaTestContext, direct, https
from tests.support.lambda_front import serving

ISSUER = "http://127.0.0.1:3000"
RESOURCE = "http://127.0.0.1:3000/mcp"
SEARCH = "slack__search_messages_v2_all"


def python_server(module, **extra):
    return {"command": sys.executable, "args": ["-m", module], "env": {"PYTHONPATH": str(Path.cwd())}, **extra}


@pytest.fixture
def upstreams(tmp_path, monkeypatch):
    servers = {
        "slack": python_server("tests.support.slack_server"),
        "database": python_server("tests.support.database_server"),
    }
    file = tmp_path / "upstreams.json"
    file.write_text(json.dumps({"mcpServers": servers}))
    monkeypatch.setenv("SATCHEL_UPSTREAMS", str(file))
    yield file
    for module in (filter_wiring, upstream_wiring):
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


class HandlersOfFunctions:
    """Invokes the handlers themselves, as the Lambda API would."""

    def invoke(self, function, request, *, timeout_s):
        app = importlib.import_module(f"functions.{function}.app")
        # A thread of its own, as it would be another process: the adapter's event loop is none of its business.
        with ThreadPoolExecutor(1) as elsewhere:
            answer = elsewhere.submit(app.handler, dict(request), LambdaTestContext()).result()
        return json.loads(json.dumps(answer))


@pytest.fixture
def front(upstreams, invoke, tmp_path):
    identity = Identity(tmp_path, ISSUER)
    functions = HandlersOfFunctions()
    own = catalogue()
    kept = ExpiringCache(max_entries=1, ttl=timedelta(minutes=5), clock=lambda: datetime.now(UTC))
    listed = ProxyCatalogue(own.tools, own.resources, own.templates, UpstreamTools(functions, kept))
    server = build_server(listed, functions, version="1", request_state_keys=lambda: ("k" * 32,))
    adapter = McpAdapter(
        endpoint=McpEndpoint(server, listed),
        functions=functions,
        catalogue=listed,
        verifier=TokenVerifier(issuer=ISSUER, audiences=[RESOURCE], keys=KeySet(identity.jwks)),
        admission=Admission(),
        issuer=ISSUER,
    )
    with serving(adapter.handle) as base:
        yield base, identity.mint("alice", audience=RESOURCE)
    adapter.close()


def through(front, work, toolsets="default,upstream"):
    base, token = front

    async def use():
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30) as http,
            Client(streamable_http_client(f"{base}/mcp?toolsets={toolsets}", http_client=http)) as client,
        ):
            return await work(client)

    return asyncio.run(use())


def test_a_client_gets_filtered_sanitised_answers_and_can_fetch_what_was_cut(front):
    async def work(client):
        tools = (await client.list_tools()).tools
        answer = await client.call_tool(SEARCH, {"query": "security", "_question": "Which security patches are out?"})
        cut = await client.read_resource(answer.structured_content["handle"])
        return tools, answer, cut

    tools, answer, cut = through(front, work)
    listed = {tool.name: tool for tool in tools}
    assert {SEARCH, "slack__fail", "database__query", "save_message"} <= listed.keys()
    assert set(listed[SEARCH].input_schema["properties"]) == {"query", "cursor", "_question"}
    structured = answer.structured_content
    assert (structured["total"], structured["kept"]) == (500, 10)
    assert structured["data"]["ok"] is True
    assert len(structured["data"]["messages"]) == 10
    assert all("security patch" in message["text"] for message in structured["data"]["messages"])
    assert "xoxb-" not in answer.model_dump_json()
    page = json.loads(cut.contents[0].text)
    assert page["total"] == 490
    assert "xoxb-" not in cut.contents[0].text


def test_a_database_answers_with_the_rows_that_matter(front):
    async def work(client):
        return await client.call_tool(
            "database__query", {"sql": "SELECT * FROM orders", "_question": "top 5 orders from Peru"}
        )

    rows = through(front, work).structured_content["data"]["result"]
    assert len(rows) == 5
    assert {row["country"] for row in rows} == {"Peru"}


def test_upstream_tools_are_only_listed_in_their_tool_set(front):
    async def work(client):
        return [tool.name for tool in (await client.list_tools()).tools]

    assert not [name for name in through(front, work, "default") if "__" in name]


def test_a_failing_upstream_tool_is_an_error_the_model_can_read(front):
    async def work(client):
        return await client.call_tool("slack__fail", {"reason": "x"})

    answer = through(front, work)
    assert answer.is_error
    assert "the upstream tool failed" in answer.content[0].text
    assert "xoxb-" not in answer.model_dump_json()


def test_the_golden_event_lists_and_plain_https_calls(upstreams, invoke):
    event = json.loads(Path("events/upstream_tool.json").read_text(encoding="utf-8"))
    names = [tool["name"] for tool in invoke("upstream_tool", event)["structuredContent"]["tools"]]
    assert names == [SEARCH, "slack__fail", "database__query"]
    body = {"sql": "SELECT country, count(*) AS orders FROM orders GROUP BY country"}
    answer = invoke("upstream_tool", https(body, pathParameters={"name": "database__query"}))
    assert answer["statusCode"] == 200
    assert len(json.loads(answer["body"])["data"]["result"]) == 4
    assert invoke("upstream_tool", https({}, pathParameters={"name": "nope"}))["statusCode"] == 404
    assert invoke("upstream_tool", https("{", pathParameters={"name": "nope"}))["statusCode"] == 400
    assert invoke("upstream_tool", https({"_question": 7}, pathParameters={"name": SEARCH}))["statusCode"] == 400


def test_a_server_that_is_away_leaves_the_others(upstreams, invoke):
    servers = json.loads(upstreams.read_text())["mcpServers"]
    servers["away"] = {"url": "http://127.0.0.1:9/mcp", "timeout_s": 5}
    servers["gone"] = {"command": "/nonexistent"}
    del servers["slack"]
    upstreams.write_text(json.dumps({"mcpServers": servers}))
    answer = invoke("upstream_tool", direct(tool="upstream_tools"))["structuredContent"]
    assert [tool["name"] for tool in answer["tools"]] == ["database__query"]
    assert len(answer["warnings"]) == 2
    missing = invoke("upstream_tool", direct(tool="away__search", arguments={}))
    assert missing["error"]["code"] == "unavailable"


def test_without_upstreams_there_are_no_tools(invoke, monkeypatch):
    monkeypatch.setenv("SATCHEL_UPSTREAMS", "")
    upstream_wiring.upstreams.cache_clear()
    answer = invoke("upstream_tool", direct(tool="upstream_tools"))
    assert answer == {"structuredContent": {"tools": [], "warnings": []}}
