"""Chats over the WebSocket API of the local stack, with the `websockets` client."""

import json
import shutil
import tempfile
import time
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from satchel.local.fake_claude.script import calls, in_turn, says
from tests.support.chat_stack import chat_stack


@pytest.fixture(scope="module")
def stack():
    folder = Path(tempfile.mkdtemp(prefix="satchel-socket-"))
    folder.chmod(0o711)
    with chat_stack(folder) as running:
        running.warm()
        yield running
    shutil.rmtree(folder)


def opened(stack, user="alice", **options):
    options.setdefault("additional_headers", {"Authorization": f"Bearer {stack.token(user)}"})
    return connect(stack.url.replace("http", "ws", 1) + "/socket", **options)


def say(socket, message, **fields):
    socket.send(json.dumps({"type": "sendMessage", "message": message, **fields}))


def until(socket, kind):
    """The frames up to one of a kind."""
    frames = []
    while not frames or frames[-1]["type"] != kind:
        frames.append(json.loads(socket.recv(timeout=60)))
    return frames


def test_text_and_tools_come_as_they_happen_and_the_answer_last(stack):
    long = "아주 긴 대답 😀 " * 30
    stack.scripts.by_word["what time"] = in_turn(calls(("tu_1", "current_time", {}), text="One moment."), says(long))
    with opened(stack) as socket:
        say(socket, "what time is it", session_id="s", message_id="m-1")
        frames = until(socket, "done")
    kinds = [frame["type"] for frame in frames]
    assert kinds[:3] == ["text", "tool", "tool"]
    assert [frame["state"] for frame in frames[1:3]] == ["started", "answered"]
    assert "".join(frame["text"] for frame in frames[3:-1]) == long
    assert kinds.count("text") > 3
    done = frames[-1]
    assert (done["session_id"], done["message_id"], done["text"]) == ("s", "m-1", long.strip())
    assert [m["message_id"] for m in stack.messages("s")] == ["m-1", "m-1.1", "m-1.2", "m-1.3"]


def test_the_context_that_was_used_comes_with_the_answer_where_it_is_asked_for(stack):
    with opened(stack) as socket:
        say(socket, "shown", show_context=True)
        assert "context://conversation-summary" in until(socket, "done")[-1]["context"]
        say(socket, "not shown")
        assert "context" not in until(socket, "done")[-1]


def test_a_browser_sends_its_token_as_a_sub_protocol_and_is_answered_with_the_other_one(stack):
    offered = ["satchel", f"bearer.{stack.token('browser')}"]
    with opened(stack, additional_headers={}, subprotocols=offered) as socket:
        assert socket.subprotocol == "satchel"
        say(socket, "hi there")
        assert until(socket, "done")[-1]["text"] == "echo: hi there"
    assert [m["content"] for m in stack.messages("default", user="browser")] == ["hi there", "echo: hi there"]


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer nonsense"}])
def test_without_a_valid_token_nobody_connects(stack, headers):
    with pytest.raises(InvalidStatus) as refused:
        opened(stack, additional_headers=headers)
    assert refused.value.response.status_code == 401


def test_wrong_frames_are_told_and_the_connection_goes_on(stack):
    with opened(stack) as socket:
        for sent, code in (("no json", "invalid_input"), ('{"type":"sendMessage"}', "invalid_input")):
            socket.send(sent)
            (frame,) = until(socket, "error")
            assert frame["error"]["code"] == code
        say(socket, "still here")
        assert until(socket, "done")[-1]["text"] == "echo: still here"


def test_who_may_only_read_may_not_talk(stack):
    token = stack.token("reader", scopes=["context:read"])
    with opened(stack, additional_headers={"Authorization": f"Bearer {token}"}) as socket:
        say(socket, "hello")
        assert until(socket, "error")[-1]["error"]["code"] == "forbidden"


def test_a_client_that_left_gets_its_answer_when_it_connects_again_and_only_once(stack):
    stack.scripts.by_word["brb"] = in_turn(says("welcome back", delay_s=1.5))
    with opened(stack, "leaver") as socket:
        say(socket, "brb", message_id="l-1")
        end = time.monotonic() + 30
        while not stack.requests("brb"):
            assert time.monotonic() < end
            time.sleep(0.05)
    end = time.monotonic() + 30
    while len(stack.messages("default", user="leaver")) < 2:
        assert time.monotonic() < end
        time.sleep(0.1)
    with opened(stack, "leaver") as socket:
        assert until(socket, "done")[-1]["text"] == "welcome back"
    with opened(stack, "leaver") as socket:
        say(socket, "anything new?")
        assert [f["text"] for f in until(socket, "done") if f["type"] == "done"] == ["echo: anything new?"]
    assert len(stack.requests("brb")) == 1


def test_the_same_frame_twice_is_one_turn(stack):
    stack.scripts.by_word["only once"] = in_turn(says("once", delay_s=0.5))
    with opened(stack, "doubler") as socket:
        for _ in range(2):
            say(socket, "only once", message_id="o-1")
        until(socket, "done")
        say(socket, "only once", message_id="o-1")
        assert until(socket, "done")[-1]["text"] == "once"
    assert len(stack.requests("only once")) == 1
    assert len(stack.messages("default", user="doubler")) == 2


def test_one_users_frames_never_reach_another(stack):
    with opened(stack, "one") as first, opened(stack, "two") as second:
        say(first, "for one")
        say(second, "for two")
        assert until(first, "done")[-1]["text"] == "echo: for one"
        assert until(second, "done")[-1]["text"] == "echo: for two"
