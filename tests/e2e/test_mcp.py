"""MCP through the whole stack: HTTP, the adapter, the functions behind it, the database; two users, both eras."""

import asyncio
import json
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from satchel.local.identity import Identity

ROOT = Path(__file__).parents[2]
ERAS = ["legacy", "2026-07-28"]


@dataclass
class Stack:
    """A running stack, and tokens for it."""

    base: str
    data: Path

    @property
    def mcp(self) -> str:
        return f"{self.base}/mcp"

    def token(self, user: str, **options: Any) -> str:
        return Identity(self.data, self.base).mint(user, **{"audience": self.mcp, **options})

    def post(self, body: bytes, *, path: str = "/mcp", **headers: str) -> httpx2.Response:
        given = {"content-type": "application/json", **headers}
        return httpx2.post(self.base + path, content=body, headers=given, timeout=60)

    def run(self, user: str, use: Any, *, mode: str = "2026-07-28") -> Any:
        """`use(client)` as one user, with the official client."""

        async def connected() -> Any:
            headers = {"authorization": f"Bearer {self.token(user)}"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=60) as http,
                Client(streamable_http_client(self.mcp, http_client=http), mode=mode) as client,
            ):
                return await use(client)

        return asyncio.run(connected())


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    data = tmp_path_factory.mktemp("mcp") / "data"
    command = [sys.executable, "-m", "satchel.cli.main", "serve", "--port", "0", "--data", str(data)]
    with (data.parent / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=ROOT)
    try:
        said = {}
        for line in process.stdout:
            name, _, value = line.strip().partition(": ")
            said[name] = value
            if name == "Ready":
                break
        yield Stack(said["MCP"].removesuffix("/mcp"), data)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
        process.stdout.close()


@pytest.mark.parametrize("mode", ERAS)
def test_a_saved_message_is_found_by_its_user_and_by_nobody_else(stack, mode):
    said = f"비트코인 이동평균 교차 전략을 백테스트했다 😀 {mode}"

    async def save(client):
        return await client.call_tool("save_message", {"role": "user", "content": said, "session_id": mode})

    async def search(client):
        return await client.call_tool("search_conversation", {"query": "이동평균 교차", "session_id": mode})

    saved = stack.run("alice", save, mode=mode)
    assert saved.structured_content["message"]["content"] == said
    found = stack.run("alice", search, mode=mode)
    assert [hit["message"]["content"] for hit in found.structured_content["hits"]] == [said]
    assert stack.run("bob", search, mode=mode).structured_content["hits"] == []


@pytest.mark.parametrize("mode", ERAS)
def test_the_context_resources_are_read(stack, mode):
    async def read(client):
        listed = (await client.list_resources()).resources
        return {resource.name: (await client.read_resource(resource.uri)).contents[0] for resource in listed}

    read_by_name = stack.run("carol", read, mode=mode)
    assert list(read_by_name) == ["User Profile", "Conversation Summary", "Workspace State", "Custom System Prompt"]
    assert read_by_name["User Profile"].text.startswith("User Profile:")
    workspace = json.loads(read_by_name["Workspace State"].text)
    assert set(workspace) == {"currentChart", "watchlist", "openPositions", "recentAlerts"}


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"content": "hi"}, "role"),
        ({"role": "robot", "content": "hi"}, "role"),
        ({"role": "user", "content": ""}, "content"),
    ],
)
def test_bad_arguments_are_told_by_their_field_and_nothing_is_written(stack, arguments, field):
    async def use(client):
        refused = await client.call_tool("save_message", arguments)
        return refused, await client.call_tool("search_conversation", {"query": "*"})

    refused, listed = stack.run("dave", use)
    assert refused.is_error
    assert refused.structured_content["error"]["code"] == "invalid_input"
    assert refused.structured_content["error"]["field"] == field
    assert listed.structured_content["hits"] == []


def test_a_key_given_twice_stores_nothing(stack):
    arguments = b'{"role":"user","role":"system","content":"hi"}'
    call = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"save_message","arguments":' + arguments
    refused = stack.post(call + b"}}", authorization=f"Bearer {stack.token('erin')}")
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == -32700

    async def listing(client):
        return await client.call_tool("search_conversation", {"query": "*"})

    assert stack.run("erin", listing).structured_content["hits"] == []


def test_a_browser_may_ask_first_and_can_read_every_refusal(stack):
    origin = "http://localhost:6274"
    wanted = "authorization,content-type,mcp-protocol-version,mcp-method,mcp-name"
    asking = {
        "origin": origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": wanted,
    }
    preflight = httpx2.options(stack.mcp, headers=asking)
    assert preflight.status_code == 204
    assert set(wanted.split(",")) <= set(preflight.headers["access-control-allow-headers"].split(","))
    assert int(preflight.headers["access-control-max-age"]) > 0
    refusals = {
        401: stack.post(b"{}", origin=origin),
        404: stack.post(b"{}", path="/mcp/nope", origin=origin),
        413: stack.post(b"a" * 7_000_000, origin=origin),
    }
    for status, answer in refusals.items():
        assert answer.status_code == status
        assert answer.headers["access-control-allow-origin"] == origin
        exposed = answer.headers["access-control-expose-headers"].lower()
        assert "www-authenticate" in exposed
        assert "retry-after" in exposed


def test_an_unknown_origin_gets_nothing(stack):
    evil = {"origin": "https://evil.example"}
    asking = evil | {"access-control-request-method": "POST"}
    answers = [httpx2.options(stack.mcp, headers=asking), stack.post(b"{}", **evil)]
    assert answers[1].status_code == 403
    for answer in answers:
        assert "access-control-allow-origin" not in answer.headers


def test_a_token_for_another_resource_is_refused_everywhere(stack):
    foreign = f"Bearer {stack.token('alice', audience='https://other.example/mcp')}"
    assert stack.post(b"{}", authorization=foreign).status_code == 401
    assert stack.post(b"{}", path="/v1/tools/save_message", authorization=foreign).status_code == 401


def test_a_client_finds_where_to_sign_in(stack):
    metadata = httpx2.get(f"{stack.base}/.well-known/oauth-protected-resource/mcp").json()
    assert metadata["resource"] == stack.mcp
    (issuer,) = metadata["authorization_servers"]
    server = httpx2.get(f"{issuer}/.well-known/oauth-authorization-server").json()
    assert server["issuer"] == issuer
    registered = httpx2.post(server["registration_endpoint"], json={"redirect_uris": ["http://127.0.0.1:1/callback"]})
    assert registered.status_code == 201


def test_an_answer_of_a_hundred_thousand_items_is_uploaded_filtered_and_read_again(stack):
    token = "ghp_" + "T3stOnly" * 4 + "1234"
    items = [{"id": n, "text": f"lunch {n} at the usual place, who joins? 점심 🍜"} for n in range(100_000)]
    for place in range(500, 100_000, 4_000):
        items[place] = {"id": place, "text": f"security patch for the gateway, token {token}"}
    content = json.dumps(items, ensure_ascii=False).encode()
    assert len(content) > 6 * 1024 * 1024
    bearer = {"authorization": f"Bearer {stack.token('filterer')}"}
    told = stack.post(b"{}", path="/v1/responses:upload", **bearer).json()
    request = {
        "tool": {"name": "slack_search"},
        "question": "top 20 messages about the security patch",
        "uploadId": told["uploadId"],
    }

    async def use(client):
        before = await client.call_tool("filter_response", request)
        put = httpx2.put(told["uploadUrl"], content=content, timeout=60)
        answer = await client.call_tool("filter_response", request)
        page = await client.read_resource(answer.structured_content["handle"])
        return before, put, answer, json.loads(page.contents[0].text)

    before, put, answer, page = stack.run("filterer", use)
    assert (before.is_error, before.structured_content["error"]["field"], put.status_code) == (True, "uploadId", 200)
    filtered = answer.structured_content
    assert [item["id"] for item in filtered["data"]] == list(range(500, 80_000, 4_000))
    assert {item["text"] for item in filtered["data"]} == {"security patch for the gateway, token [REDACTED]"}
    assert filtered["metadata"]["originalItemCount"] == 100_000
    assert sum(filtered["metadata"]["removedByReason"].values()) == 99_980
    assert filtered["metadata"]["bytes"]["before"] == len(content)
    # The best of what was cut: the five messages that had no place, then the first of the others.
    assert page["total"] == 60
    assert [row["item"]["id"] for row in page["items"][:6]] == [*range(80_500, 100_000, 4_000), 0]
    assert token not in json.dumps([filtered, page])
    again = stack.post(json.dumps(request).encode(), path="/v1/responses:filter", **bearer).json()
    assert again["data"] == filtered["data"]
    others = {"authorization": f"Bearer {stack.token('somebody-else')}"}
    refused = stack.post(json.dumps(request).encode(), path="/v1/responses:filter", **others)
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, "uploadId")
    assert token not in (stack.data.parent / "log").read_text()
