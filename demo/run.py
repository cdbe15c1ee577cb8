"""The main job without a person: serve, replay a conversation through a real MCP client, read the context back.

usage: python demo/run.py

It serves on a free port with temporary data, and the last line is `demo ok`. The exit status is 1 if a search does not
find what was said.
"""

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from satchel.cli.requests import describe_hit

HERE = Path(__file__).parent
RESOURCES = (
    "context://user-profile",
    "context://conversation-summary",
    "context://workspace-state",
    "context://system-prompt",
)
# A question, and the message that answers it.
SEARCHES = {"Where do I put my stop loss?": "getting-started-1", "리플 왜 팔았지?": "korean-notes-1"}


@dataclass(frozen=True)
class Server:
    """A running `satchel serve`."""

    mcp_url: str
    token: str

    def put(self, path: str, body: Any) -> None:
        """Sends what a person would edit in a settings page."""
        request = urllib.request.Request(
            self.mcp_url.removesuffix("/mcp") + path,
            method="PUT",
            data=json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        urllib.request.urlopen(request, timeout=30).close()


@contextmanager
def serve() -> Iterator[Server]:
    """Serves on a free port with temporary data, which is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="satchel-demo-"))
    folder.chmod(0o711)  # root's database runs as another user, who has to pass
    command = [sys.executable, "-m", "satchel.cli.main", "serve", "--port", "0", "--data", str(folder / "data")]
    log = folder / "log"
    with (
        log.open("w") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        try:
            printed = dict(_read_until_ready(process))
            if "Ready" not in printed:
                sys.exit(f"The server did not start:\n{log.read_text()}")
            yield Server(printed["MCP"], printed["Token"])
        finally:
            process.terminate()
            process.wait(30)
            shutil.rmtree(folder)


def _read_until_ready(process: subprocess.Popen[str]) -> Iterator[tuple[str, str]]:
    assert process.stdout is not None
    for line in process.stdout:
        name, _, value = line.strip().partition(": ")
        yield name, value
        if name == "Ready":
            return


def conversation(*, ends_at: datetime) -> list[dict[str, Any]]:
    """The sample messages, moved so that the last one was said at a given time."""
    messages = [json.loads(line) for line in (HERE / "conversation.jsonl").read_text("utf-8").splitlines()]
    shift = ends_at - datetime.fromisoformat(messages[-1]["timestamp"])
    for message in messages:
        message["timestamp"] = (datetime.fromisoformat(message["timestamp"]) + shift).isoformat()
    return messages


async def replay(client: Client, messages: list[dict[str, Any]]) -> float:
    """Saves the messages in order and returns the seconds until the first was found again."""
    started = time.monotonic()
    found_after = 0.0
    for message in messages:
        saved = await client.call_tool("save_message", message)
        if saved.is_error:
            sys.exit(f"{message['message_id']} was not saved: {saved.structured_content}")
        if not found_after:
            await search(client, "stop loss", limit=1)
            found_after = time.monotonic() - started
    return found_after


async def search(client: Client, query: str, *, limit: int = 5) -> list[dict[str, Any]]:
    """The hits of `search_conversation`."""
    result = await client.call_tool("search_conversation", {"query": query, "limit": limit})
    if result.is_error or result.structured_content is None:
        sys.exit(f"The search failed: {result.structured_content}")
    return result.structured_content["hits"]


async def show(client: Client) -> bool:
    """Prints the resources and the searches; whether every search found what was said."""
    for uri in RESOURCES:
        print(f"\n== {uri}")
        for content in (await client.read_resource(uri)).contents:
            print(getattr(content, "text", ""))
    all_found = True
    for query, wanted in SEARCHES.items():
        print(f"\n== search: {query}")
        hits = await search(client, query)
        print("\n".join(map(describe_hit, hits)))
        all_found &= wanted in {hit["message"]["message_id"] for hit in hits}
    return all_found


async def main() -> None:
    """Runs the demo."""
    started = time.monotonic()
    with serve() as server:
        print(f"Serving at {server.mcp_url} after {time.monotonic() - started:.1f} s.")
        for name, body in json.loads((HERE / "about_the_user.json").read_text("utf-8")).items():
            server.put(f"/v1/{name}", body)
        headers = {"Authorization": f"Bearer {server.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(server.mcp_url, http_client=http)) as client,
        ):
            messages = conversation(ends_at=datetime.now(UTC) - timedelta(minutes=5))
            first = await replay(client, messages)
            print(f"The first message was saved and found after {first:.1f} s; {len(messages)} are saved.")
            if not await show(client):
                sys.exit("\nA search did not find what was said.")
    print("\ndemo ok")


if __name__ == "__main__":
    asyncio.run(main())
