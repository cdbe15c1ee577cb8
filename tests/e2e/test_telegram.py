"""Chats over Telegram: its webhook calls us, and a small server stands in for its Bot API."""

import json
import shutil
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from satchel.local.fake_claude.script import in_turn, says
from tests.support.chat_stack import chat_stack

SECRET = "webhook-secret"


class BotApi:
    """Takes messages; refuses those whose text says so, and texts and entities that the real one refuses."""

    def __init__(self):
        self.sent = []
        self.attempts = []
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                api.attempts.append((self.path, body))
                length = len(body["text"].encode("utf-16-le")) // 2
                bad = length > 4096 or ("no-entities" in body["text"] and "entities" in body)
                if not bad:
                    api.sent.append(body)
                self.send_response(400 if bad else 200)
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def to(self, chat):
        return [body["text"] for body in self.sent if body["chat_id"] == str(chat)]


@pytest.fixture(scope="module")
def bot():
    api = BotApi()
    yield api
    api.server.shutdown()
    api.server.server_close()


@pytest.fixture(scope="module")
def stack(bot):
    folder = Path(tempfile.mkdtemp(prefix="satchel-telegram-"))
    folder.chmod(0o711)
    environment = {
        "SATCHEL_TELEGRAM_URL": bot.url,
        "SATCHEL_TELEGRAM_TOKEN": "123:abc",
        "SATCHEL_TELEGRAM_WEBHOOK_SECRET": SECRET,
    }
    with chat_stack(folder, **environment) as running:
        running.warm()
        yield running
    shutil.rmtree(folder)


def update(stack, number, chat, text, *, secret=SECRET):
    body = {"update_id": number, "message": {"message_id": 1, "date": 1, "chat": {"id": chat}, "text": text}}
    headers = {"x-telegram-bot-api-secret-token": secret}
    return httpx.post(f"{stack.url}/v1/telegram", json=body, headers=headers, timeout=60)


def link(stack, user, chat, number):
    made = stack.post("/v1/chat/links", {}, user=user)
    assert made.status_code == 201, made.text
    answer = update(stack, number, chat, made.json()["command"])
    assert "is linked" in answer.json()["text"]


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.05)
    return value


def test_one_update_twice_at_once_and_again_is_one_run_one_pair_and_one_reply(stack, bot):
    link(stack, "tina", 501, 1)
    stack.scripts.by_word["status?"] = in_turn(says("All 😀 good", delay_s=3))
    with ThreadPoolExecutor(2) as pool:
        began = time.monotonic()
        answers = list(pool.map(lambda _: update(stack, 900000001, 501, "status?"), range(2)))
    assert [answer.status_code for answer in answers] == [200, 200]
    wait_until(lambda: bot.to(501))
    assert time.monotonic() - began >= 3
    assert update(stack, 900000001, 501, "status?").status_code == 200
    update(stack, 900000009, 501, "marker")
    wait_until(lambda: len(bot.to(501)) > 1)
    assert bot.to(501) == ["All 😀 good", "echo: marker"]
    assert len(stack.requests("status?")) == 1
    kept = [m["content"] for m in stack.messages("telegram-501", user="tina")]
    assert kept == ["status?", "All 😀 good", "marker", "echo: marker"]


def test_two_updates_with_the_same_words_are_two_turns(stack, bot):
    link(stack, "theo", 502, 2)
    for number in (900000002, 900000003):
        assert update(stack, number, 502, "yes").status_code == 200
    wait_until(lambda: len(bot.to(502)) == 2)
    assert bot.to(502) == ["echo: yes"] * 2
    assert [m["role"] for m in stack.messages("telegram-502", user="theo")].count("user") == 2


def test_a_long_answer_comes_in_parts_and_as_plain_text_where_entities_are_refused(stack, bot):
    link(stack, "lena", 503, 3)
    long = "😀 **굵게** 글 " * 700
    stack.scripts.by_word["at length"] = in_turn(says(long))
    update(stack, 900000004, 503, "at length")
    wait_until(lambda: sum(len(text) for text in bot.to(503)) >= 700 * 7 - 1)
    assert len(bot.to(503)) > 1
    assert "".join("".join(bot.to(503)).split()) == "".join(long.replace("**", "").split())
    update(stack, 900000005, 503, "no-entities `please`")
    wait_until(lambda: bot.to(503)[-1] == "echo: no-entities please")
    assert [("entities" in body) for _, body in bot.attempts if "no-entities" in body["text"]] == [True, False]


def test_only_telegram_gets_in_and_only_linked_chats_are_anybodys(stack, bot):
    assert update(stack, 900000006, 504, "hi", secret="guess").status_code == 401
    stranger = update(stack, 900000007, 504, "hi")
    assert stranger.json()["method"] == "sendMessage"
    assert "whose chat" in stranger.json()["text"]
    assert "whose chat" in update(stack, 900000008, 504, "/start nonsense").json()["text"]
    assert stack.requests("hi") == []


def test_a_code_links_once_a_linked_chat_is_not_taken_over_and_can_be_let_go(stack, bot):
    command = stack.post("/v1/chat/links", {}, user="uma").json()["command"]
    for _ in range(2):
        assert "is linked" in update(stack, 900000010, 505, command).json()["text"]
    assert "whose chat" in update(stack, 900000011, 506, command).json()["text"]
    thief = stack.post("/v1/chat/links", {}, user="thief").json()["command"]
    assert "whose chat" in update(stack, 900000012, 505, thief).json()["text"]
    update(stack, 900000013, 505, "mine")
    wait_until(lambda: bot.to(505))
    assert len(stack.messages("telegram-505", user="uma")) == 2
    headers = {"authorization": f"Bearer {stack.token('uma')}"}
    assert httpx.delete(f"{stack.url}/v1/chat/links", headers=headers, timeout=60).status_code == 204
    assert "whose chat" in update(stack, 900000014, 505, "still mine?").json()["text"]
    assert "whose chat" in update(stack, 900000010, 505, command).json()["text"]


def test_updates_without_a_text_are_taken_and_nothing_comes_of_them(stack):
    headers = {"x-telegram-bot-api-secret-token": SECRET}
    for body in ({"update_id": 1, "edited_message": {}}, {"update_id": 2, "message": {"chat": {"id": 1}, "photo": []}}):
        assert httpx.post(f"{stack.url}/v1/telegram", json=body, headers=headers, timeout=60).json() == {}


def test_a_text_that_cannot_be_kept_is_taken_so_that_telegram_goes_on(stack):
    link(stack, "tall", 507, 900000020)
    too_long = update(stack, 900000021, 507, "x" * 262_145)
    assert (too_long.status_code, too_long.json()["chat_id"]) == (200, "507")
    assert "could not take this: content is over" in too_long.json()["text"]
    assert update(stack, 900000022, 507, "first").json() == {}
    assert "stands for another message" in update(stack, 900000022, 507, "second").json()["text"]
