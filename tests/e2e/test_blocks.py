"""Session blocks through the whole stack: over HTTPS and MCP, message by message, as a job, and beside a slow model."""

import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from satchel.local.fake_claude.script import says
from satchel.local.fake_claude.server import FakeClaude
from satchel.local.identity import Identity

ROOT = Path(__file__).parents[2]
START = datetime(2025, 1, 1, 9, tzinfo=UTC)
TOPICS = {
    "en": (
        "How does quicksort work?", "It picks a pivot, splits the array around it and sorts each part.",
        "What should I cook for dinner tonight?", "You could make pasta with tomato sauce.",
        "Who won the football match yesterday?", "The home team won two to one.",
    ),
    "ko": (
        "퀵소트는 어떻게 동작하나요?", "피벗을 골라 배열을 나누고 양쪽을 재귀로 정렬합니다.",
        "오늘 저녁에 뭐 먹을까?", "토마토 파스타가 간단하고 맛있어요.",
        "어제 축구 경기 누가 이겼어?", "홈팀이 2대 1로 이겼습니다.",
    ),
}  # fmt: skip


def messages(texts, *, gap_s=60):
    return [
        {
            "messageId": f"m{number:06}",
            "role": ("user", "assistant")[number % 2],
            "content": text,
            "timestamp": (START + timedelta(seconds=gap_s * number)).isoformat(),
        }
        for number, text in enumerate(texts)
    ]


def chat(count):
    """A long chat that says something else all the time and comes back to nothing."""
    words = random.Random(7)
    return messages([f"{words.choice(TOPICS['en'])} {words.getrandbits(32):x} 🚀" for _ in range(count)], gap_s=90)


def request(sent, **options):
    return {"sessionId": "s", "analysisMode": "FULL", "messages": sent, "existingBlocks": [], "options": options}


class Caller:
    """One user, over HTTPS and over MCP."""

    def __init__(self, base: str, data: Path, user: str = "alice") -> None:
        self._headers = {
            "authorization": f"Bearer {Identity(data, base).mint(user, audience=f'{base}/mcp')}",
            "content-type": "application/json",
        }
        self._base = base
        self._data = data

    def as_user(self, user: str) -> "Caller":
        return Caller(self._base, self._data, user)

    def post(self, path, body) -> httpx.Response:
        return httpx.post(self._base + path, content=json.dumps(body), headers=self._headers, timeout=60)

    def get(self, uri) -> httpx.Response:
        return httpx.get(f"{self._base}/v1/resources", params={"uri": uri}, headers=self._headers, timeout=60)

    def read(self, uri):
        return json.loads(self.get(uri).json()["contents"][0]["text"])

    def over_mcp(self, use):
        async def connected():
            async with (
                httpx2.AsyncClient(headers={"authorization": self._headers["authorization"]}, timeout=60) as http,
                Client(streamable_http_client(f"{self._base}/mcp", http_client=http), mode="2026-07-28") as client,
            ):
                return await use(client)

        return asyncio.run(connected())


@contextlib.contextmanager
def served(home: Path, **environment: str) -> Iterator[Caller]:
    home.chmod(0o711)  # root's database runs as another user, who has to pass
    data = home / "data"
    command = [sys.executable, "-m", "satchel.cli.main", "serve", "--port", "0", "--data", str(data)]
    with (home / "log").open("w") as log:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=ROOT, env=os.environ | environment
        )
        try:
            base = process.stdout.readline().split()[1].removesuffix("/mcp")
            while process.stdout.readline().strip() != "Ready":
                assert process.poll() is None
            yield Caller(base, data)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)
            process.stdout.close()


@pytest.fixture(scope="module")
def alice(tmp_path_factory):
    with served(tmp_path_factory.mktemp("home"), SATCHEL_LLM="none") as caller:
        yield caller


def test_the_same_request_has_the_same_bytes_three_times_and_by_every_way_in(alice):
    body = request(messages(TOPICS["ko"]))
    paths = ["/v1/session-blocks:build"] * 3 + ["/v1/session-blocks%3Abuild", "/v1/tools/build_session_blocks"]
    answers = [alice.post(path, body) for path in paths]
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    told = alice.over_mcp(lambda client: client.call_tool("build_session_blocks", body)).structured_content
    assert told == answers[0].json()


@pytest.mark.parametrize("mode", ["hard", "soft"])
@pytest.mark.parametrize("language", TOPICS)
def test_sorting_then_dinner_then_football_opens_a_block_at_each_user_turn(alice, language, mode):
    answer = alice.post("/v1/session-blocks:build", request(messages(TOPICS[language]), timeGapMode=mode)).json()
    assert [len(block["messageIds"]) for block in answer["blocks"]] == [2, 2, 2]


def test_a_fault_is_a_400_that_names_its_place(alice):
    sent = messages(TOPICS["en"])
    sent[3]["role"] = "tool"
    answer = alice.post("/v1/session-blocks%3Abuild", request(sent))
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, "messages[3].role")
    assert alice.post("/v1/session-blocks:build", request([])).status_code == 400


def test_messages_that_are_ingested_and_saved_are_in_the_blocks_of_their_session(alice):
    first, second, *_ = messages(TOPICS["ko"])
    ingest = "/v1/session-blocks%3Aingest-message"
    placed = alice.post(ingest, {"sessionId": "오늘", "message": first}).json()
    assert (placed["action"], placed["duplicate"]) == ("NEW_BLOCK", False)
    again = alice.post(ingest, {"sessionId": "오늘", "message": first}).json()
    assert again == {**placed, "duplicate": True}
    saved = {
        "role": second["role"], "content": second["content"], "timestamp": second["timestamp"], "session_id": "오늘",
        "message_id": second["messageId"],
    }  # fmt: skip
    alice.over_mcp(lambda client: client.call_tool("save_message", saved))
    uri = "context://blocks/%EC%98%A4%EB%8A%98"
    (block,) = alice.read(uri)["blocks"]
    assert block["messageIds"] == ["m000000", "m000001"]
    assert block["tags"]["PROBLEM"] == TOPICS["ko"][0]
    over_mcp = alice.over_mcp(lambda client: client.read_resource(uri)).contents[0].text
    assert json.loads(over_mcp)["blocks"] == [block]
    assert alice.as_user("bob").get(uri).status_code == 404


def test_ten_thousand_messages_go_in_one_call(alice):
    answer = alice.post("/v1/session-blocks:build", request(chat(10_000)))
    assert answer.status_code == 200
    told = answer.json()
    assert len(told["messageToBlock"]) == told["stats"]["numMessages"] == 10_000


def test_what_is_too_large_for_a_request_is_uploaded_and_cut_by_a_job(alice):
    sent = chat(40_000)
    assert len(json.dumps(request(sent))) > 6 * 1024 * 1024
    upload = alice.post("/v1/session-blocks:upload", {}).json()
    start = {
        "uploadId": upload["uploadId"],
        "sessionId": "s",
        "analysisMode": "FULL",
        "existingBlocks": [],
        "options": {},
    }
    assert alice.post("/v1/session-blocks:start", start).json()["error"]["field"] == "uploadId"
    random.Random(1).shuffle(sent)
    lines = "\n".join(json.dumps(message) for message in sent)
    assert httpx.put(upload["uploadUrl"], content=lines, timeout=60).status_code == 200
    assert alice.as_user("bob").post("/v1/session-blocks:start", start).status_code == 400
    started = alice.post("/v1/session-blocks%3Astart", start)
    assert (started.status_code, started.json()["status"]) == (202, "queued")
    uri = f"context://job/{started.json()['job_id']}"
    job = until_ended(alice, uri)
    assert job["status"] == "done", job
    result = httpx.get(job["result"]["url"], timeout=60).json()
    assert job["result"]["stats"] == result["stats"]
    assert result["stats"]["numMessages"] == len(result["messageToBlock"]) == 40_000
    beginning = sorted(sent, key=lambda message: message["messageId"])[:5_000]
    batch = alice.post("/v1/session-blocks:build", request(beginning)).json()
    # All but the last, which goes on in the whole.
    assert result["blocks"][: len(batch["blocks"]) - 1] == batch["blocks"][:-1]
    assert alice.as_user("bob").get(uri).status_code == 404


def until_ended(caller, uri):
    end = time.monotonic() + 120
    while (job := caller.read(uri))["status"] in ("queued", "running"):
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.1)
    return job


def test_beside_a_model_that_never_answers_a_thousand_messages_are_cut_by_the_rules_inside_a_request(tmp_path_factory):
    with (
        FakeClaude(lambda _body: says("{}", delay_s=60)) as claude,
        served(
            tmp_path_factory.mktemp("slow"),
            SATCHEL_LLM="anthropic",
            ANTHROPIC_API_KEY="none",
            ANTHROPIC_BASE_URL=claude.url,
        ) as caller,
    ):
        body = request(chat(1_000), shiftLowSim=0.05, shiftHighSim=0.95)
        # The gateway itself gives up after 30 s.
        answer = caller.post("/v1/session-blocks:build", body)
        assert answer.status_code == 200
        told = answer.json()
        assert (told["stats"]["llmCalls_shift"], told["stats"]["numMessages"]) == (0, 1_000)
        assert claude.received
        assert {block["metadata"]["model"] for block in told["blocks"]} == {"rules"}
        assert caller.post("/v1/session-blocks:build", body).content == answer.content
