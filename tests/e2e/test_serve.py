"""`satchel serve` and the commands around it, as a person uses them: real processes, real database, real functions."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

SATCHEL = [sys.executable, "-m", "satchel.cli.main"]
ROOT = Path(__file__).parents[2]


@dataclass
class Server:
    """A `satchel serve` that has said Ready."""

    process: subprocess.Popen[str]
    data: Path
    printed: dict[str, str]

    @property
    def url(self) -> str:
        return self.printed["MCP"].removesuffix("/mcp")

    def post(self, path: str, body: Any, token: str | None = None) -> httpx.Response:
        headers = {"authorization": f"Bearer {token or self.printed['Token']}"}
        return httpx.post(self.url + path, json=body, headers=headers, timeout=60)

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def stop(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(30)


def satchel(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SATCHEL, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
        env={**os.environ, **environment},
        check=False,
    )


def wait_until(condition: Callable[[], Any], seconds: float = 30) -> Any:
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.05)
    return value


@pytest.fixture(scope="module")
def start() -> Iterator[Callable[..., Server]]:
    """Starts servers on free ports; all are stopped at the end."""
    servers: list[Server] = []

    def serve(data: Path, *more: str) -> Server:
        command = [*SATCHEL, "serve", "--port", "0", "--data", str(data), *more]
        with (data.parent / "log.jsonl").open("a") as log:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=ROOT)
        printed: dict[str, str] = {}
        assert process.stdout is not None
        for line in process.stdout:
            name, _, value = line.strip().partition(": ")
            printed[name] = value
            if name == "Ready":
                break
        servers.append(Server(process, data, printed))
        assert "Ready" in printed, (data.parent / "log.jsonl").read_text()
        return servers[-1]

    yield serve
    for server in servers:
        if server.process.poll() is None:
            server.stop()
        assert server.process.stdout is not None
        server.process.stdout.close()


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="satchel-e2e-"))
    path.chmod(0o711)  # root's database runs as another user, who has to pass
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def server(start, folder) -> Server:
    return start(folder / "data")


MESSAGE = {"role": "user", "content": "오늘 BTC를 샀다 🚀", "session_id": "s", "message_id": "m-1"}


def test_serve_prints_all_that_a_client_needs(server):
    assert server.printed["MCP"].startswith("http://127.0.0.1:")
    assert server.printed["MCP"].endswith("/mcp")
    assert len(server.printed["Token"].split(".")) == 3
    assert any(line.startswith("claude mcp add --transport http satchel") for line in server.printed)
    assert any(line.startswith("curl ") for line in server.printed)


def test_healthz_answers_200(server):
    assert httpx.get(server.url + "/healthz", timeout=60).status_code == 200


def test_a_saved_message_comes_back(server):
    answer = server.post("/v1/tools/save_message", MESSAGE)
    assert answer.status_code == 200, answer.text
    assert answer.json()["message"]["content"] == MESSAGE["content"]
    assert server.post("/v1/tools/save_message", MESSAGE).json()["duplicate"] is True


def test_without_a_token_nobody_gets_in(server):
    assert httpx.post(server.url + "/v1/tools/save_message", json=MESSAGE).status_code == 401


def test_the_commands_use_the_running_server(server):
    data = ("--data", str(server.data))
    saved = satchel("save", "from the shell 안녕", "--session", "cli", "--id", "c-1", "--json", *data)
    assert saved.returncode == 0, saved.stderr
    result = json.loads(saved.stdout)
    assert (result["message"]["message_id"], result["duplicate"]) == ("c-1", False)
    again = satchel("save", "from the shell 안녕", "--session", "cli", "--id", "c-1", *data)
    assert again.stdout.startswith("Was already saved: c-1 in cli")
    clash = satchel("save", "something else", "--session", "cli", "--id", "c-1", *data)
    assert clash.returncode == 1
    assert "conflict" in clash.stderr
    invoked = satchel("invoke", "save_message", "-e", "events/save_message.json", *data)
    assert json.loads(invoked.stdout)["structuredContent"]["message"]["message_id"] == "risk-1"


def test_a_search_on_the_shell_shows_the_closest_where_nothing_is_likely_and_keeps_users_apart(server):
    def search(query: str, user: str, *more: str) -> subprocess.CompletedProcess[str]:
        return satchel("search", query, "--user", user, "--data", str(server.data), *more)

    for text in ("My stop loss is always 2 ATR below entry", "오늘 점심은 김치찌개 🍲"):
        saved = satchel("save", text, "--session", "shell", "--user", "carol", "--data", str(server.data))
        assert saved.returncode == 0
    likely = search("where do I put my stop loss?", "carol").stdout.splitlines()
    assert likely[0].endswith("My stop loss is always 2 ATR below entry")
    unlikely = search("Kubernetes ingress", "carol").stdout.splitlines()
    assert unlikely[0] == "Nothing is likely to answer that. The closest:"
    assert len(unlikely) == 3
    assert json.loads(search("Kubernetes ingress", "carol", "--json").stdout)["hits"] == []
    assert search("stop loss", "dave").stdout == "Nothing found.\n"
    blank = search("", "carol")
    assert (blank.returncode, blank.stderr.count("query")) == (1, 1)


def test_a_chat_without_a_key_remembers_across_sessions(server):
    def chat(message: str, session: str) -> dict[str, Any]:
        about = ("--user", "joon", "--data", str(server.data))
        said = satchel("chat", "--message", message, "--session", session, "--json", *about)
        assert said.returncode == 0, said.stderr
        return json.loads(said.stdout)

    chat("My dentist is Dr. Kwon in Mapo 🦷", "one")
    answer = chat("Who is my dentist?", "two")
    assert answer["session_id"] == "two"
    assert "Dr. Kwon" in answer["text"]
    assert "stand-in" in answer["text"]


def test_a_rotated_key_needs_no_restart(server):
    older = satchel("token", "--data", str(server.data)).stdout.strip()
    assert satchel("rotate-keys", "--data", str(server.data)).returncode == 0
    newer = satchel("token", "--data", str(server.data)).stdout.strip()
    for token in (older, newer):
        assert server.post("/v1/tools/search_conversation", {"query": "*"}, token).status_code == 200
    assert satchel("status", "--data", str(server.data)).returncode == 0


def test_a_printed_token_is_one_users_and_is_accepted(server):
    token = satchel("token", "--user", "bob", "--data", str(server.data))
    assert token.returncode == 0
    answer = server.post("/v1/tools/save_message", MESSAGE, token.stdout.strip())
    assert answer.json()["duplicate"] is False
    other = satchel("token", "--audience", "http://elsewhere/mcp", "--data", str(server.data)).stdout.strip()
    assert server.post("/v1/tools/save_message", MESSAGE, other).status_code == 401
    through = satchel("save", "x", "--data", str(server.data), SATCHEL_TOKEN=other)
    assert through.returncode == 1


def test_a_second_server_on_the_folder_or_the_port_is_refused_with_a_sentence(server, folder):
    second = satchel("serve", "--port", "0", "--data", str(server.data))
    assert second.returncode == 1
    assert f"{server.data} is in use by process {server.process.pid}" in second.stderr
    port = server.url.rsplit(":", 1)[1]
    busy = satchel("serve", "--port", port, "--data", str(folder / "other"))
    assert busy.returncode == 1
    assert f"Port {port} on 127.0.0.1 is in use" in busy.stderr
    assert not (folder / "other").exists()


def test_the_database_killed_under_the_stack_gives_a_clear_503_and_comes_back(server):
    (postgres,) = [child for child in server.children() if child.name() == "postgres" and "-D" in child.cmdline()]
    answers = []
    postgres.kill()

    def saved() -> bool:
        answers.append(server.post("/v1/tools/save_message", MESSAGE))
        return answers[-1].status_code == 200

    wait_until(saved)
    for refused in answers[:-1]:
        assert refused.status_code == 503, refused.text
        assert refused.json()["error"]["code"] == "unavailable"
        assert refused.headers["retry-after"]
    assert answers[-1].json()["duplicate"] is True


def test_ctrl_c_leaves_nothing_running_and_a_token_outlives_a_restart(start, folder):
    first = start(folder / "restarted")
    first.post("/v1/tools/save_message", MESSAGE)
    children = first.children()
    assert {child.name() for child in children} >= {"postgres"}
    port = first.url.rsplit(":", 1)[1]
    assert first.stop() == 0
    assert not [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    second = start(folder / "restarted", "--port", port)
    assert second.post("/v1/tools/save_message", MESSAGE, first.printed["Token"]).json()["duplicate"] is True


def test_killed_with_9_it_takes_everything_with_it_and_the_next_start_recovers(start, folder):
    first = start(folder / "killed")
    first.post("/v1/tools/save_message", MESSAGE)
    children = first.children()
    first.stop(signal.SIGKILL)
    wait_until(lambda: not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children))
    second = start(folder / "killed")
    assert second.post("/v1/tools/save_message", MESSAGE).json()["duplicate"] is True


def test_invoke_without_a_server_runs_once_on_the_folder(folder):
    data = ("--data", str(folder / "alone"))
    once = satchel("invoke", "SaveMessageFunction", "-e", "events/save_message.json", *data)
    assert once.returncode == 0, once.stderr
    assert json.loads(once.stdout)["structuredContent"]["duplicate"] is False
    twice = satchel("invoke", "SaveMessageFunction", "-e", "events/save_message.json", *data)
    assert json.loads(twice.stdout)["structuredContent"]["duplicate"] is True


def test_the_conformance_fixtures_are_served_when_asked_for_and_only_then(start, server, folder):
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}

    def names(of: Server) -> set[str]:
        return {tool["name"] for tool in of.post("/mcp", listing).json()["result"]["tools"]}

    assert not [name for name in names(server) if name.startswith("test_")]
    assert {"save_message", "test_simple_text"} <= names(start(folder / "fixtures", "--with-test-fixtures"))


def test_the_stack_serves_the_same_under_another_time_zone(start, folder, monkeypatch):
    monkeypatch.setenv("TZ", "America/Los_Angeles")
    server = start(folder / "west")
    answer = server.post("/v1/tools/save_message", {**MESSAGE, "timestamp": "2026-01-01T05:00:00"})
    assert answer.json()["message"]["created_at"] == "2026-01-01T05:00:00Z"
