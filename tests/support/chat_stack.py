"""`satchel serve` with a scripted model that tests write, and what they ask of it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

from satchel.local.fake_claude.script import Reply, Script, says
from satchel.local.fake_claude.server import FakeClaude
from satchel.local.identity import Identity

ROOT = Path(__file__).parents[2]


def texts_of(body: Any) -> list[str]:
    """All texts of the last message."""
    return [block["text"] for block in body["messages"][-1]["content"] if block["type"] == "text"]


def said(body: Any) -> str:
    """What the user said last in a request."""
    for message in reversed(body["messages"]):
        texts = [block["text"] for block in message["content"] if block["type"] == "text"]
        if message["role"] == "user" and texts:
            return texts[-1]
    return ""


@dataclass
class Scripts:
    """Scripts by a word in what the user says; without one the model repeats what was said."""

    by_word: dict[str, Script] = field(default_factory=dict)

    def __call__(self, body: Any) -> Reply:
        text = said(body)
        script = next((script for word, script in self.by_word.items() if word in text), None)
        return script(body) if script else says(f"echo: {text}")


@dataclass
class ChatStack:
    """A running stack and its model."""

    process: subprocess.Popen[str]
    url: str
    data: Path
    model: FakeClaude
    scripts: Scripts
    lock: threading.Lock = field(default_factory=threading.Lock)

    def token(self, user: str, **options: Any) -> str:
        return Identity(self.data, self.url).mint(user, **{"audience": f"{self.url}/mcp", **options})

    def post(self, path: str, body: Any, *, user: str = "alice", **headers: str) -> httpx.Response:
        given = {"authorization": f"Bearer {self.token(user)}", **headers}
        return httpx.post(self.url + path, json=body, headers=given, timeout=120)

    def get(self, path: str, *, user: str = "alice") -> httpx.Response:
        return httpx.get(self.url + path, headers={"authorization": f"Bearer {self.token(user)}"}, timeout=60)

    def chat(self, message: str, *, user: str = "alice", **fields: Any) -> httpx.Response:
        return self.post("/v1/chat", {"message": message, **fields}, user=user)

    def warm(self) -> None:
        """Have every function of a chat started, however slow this machine is today."""
        end = time.monotonic() + 180
        while self.chat("warm up", session_id="warm", message_id="w", user="warm").status_code != 200:
            assert time.monotonic() < end

    def messages(self, session: str, *, user: str = "alice") -> list[dict[str, Any]]:
        answer = self.get(f"/v1/resources?uri=context://conversation/{session}?limit=200", user=user)
        return json.loads(answer.json()["contents"][0]["text"])["messages"]

    def requests(self, word: str) -> list[Any]:
        """The model's requests about a user message with `word` in it, in order."""
        return [received.body for received in self.model.received if word in said(received.body)]

    def workers(self, function: str) -> list[psutil.Process]:
        """The processes of one function."""
        found = []
        for child in psutil.Process(self.process.pid).children(recursive=True):
            try:
                if child.environ().get("AWS_LAMBDA_FUNCTION_NAME") == f"satchel-{function}":
                    found.append(child)
            except psutil.Error:
                continue
        return found

    def kill(self, function: str) -> int:
        """kill -9 for every process of a function, and wait until the stack has seen them go; how many there were.

        Until then it could hand the next request to one of them, and that request would rightly fail.
        """
        workers = self.workers(function)
        for worker in workers:
            worker.kill()
        _, alive = psutil.wait_procs(workers, timeout=10)
        assert not alive
        return len(workers)


@contextmanager
def chat_stack(folder: Path, **environment: str) -> Iterator[ChatStack]:
    """Serve on a free port, with data and log in `folder`."""
    scripts = Scripts()
    with FakeClaude(scripts) as model, (folder / "log.jsonl").open("a") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "satchel.cli.main", "serve", "--port", "0", "--data", str(folder / "data")],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=ROOT,
            env={**os.environ, "ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": model.url, **environment},
        )
        assert process.stdout is not None
        try:
            told: dict[str, str] = {}
            for line in process.stdout:
                name, _, value = line.strip().partition(": ")
                told[name] = value
                if name == "Ready":
                    break
            assert "Ready" in told, (folder / "log.jsonl").read_text()
            yield ChatStack(process, told["MCP"].removesuffix("/mcp"), folder / "data", model, scripts)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)
            process.stdout.close()
