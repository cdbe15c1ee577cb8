import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from satchel.memory.messages import MAX_CONTENT_BYTES, NewMessage
from satchel.memory.store import ConversationStore
from tests.conftest import direct, https

MOMENT = datetime(2025, 1, 15, 10, 30, tzinfo=UTC)


def read(invoke, module, uri, user_id="alice"):
    return invoke(f"context_resources.{module}", direct(user_id, resource=uri))


def text(invoke, module, uri, user_id="alice"):
    (content,) = read(invoke, module, uri, user_id)["contents"]
    assert content["uri"] == uri
    return content["text"]


def save(invoke, content, user_id="alice", **arguments):
    answer = invoke("save_message", direct(user_id, arguments={"role": "user", "content": content, **arguments}))
    return answer["structuredContent"]["message"]


def put(invoke, path, body, **event):
    raw = body if isinstance(body, str) else json.dumps(body)
    return invoke("preferences", rest(path, "PUT", raw, **event))


def rest(path, method, body=None, *, headers=None, **event):
    made = https(body, **event)
    made["requestContext"]["http"] = {"method": method, "path": path, "sourceIp": "127.0.0.1"}
    return made | {"rawPath": path, "rawQueryString": "", "headers": {"host": "localhost", **(headers or {})}}


@pytest.mark.parametrize(
    ("module", "mime_type"),
    [
        ("user_profile", "text/plain"),
        ("conversation_summary", "text/plain"),
        ("workspace_state", "application/json"),
        ("system_prompt", "text/plain"),
        ("conversation", "application/json"),
    ],
)
def test_each_golden_event_reads_its_resource(invoke, module, mime_type):
    event = json.loads(Path(f"events/{module}.json").read_text(encoding="utf-8"))
    (content,) = invoke(f"context_resources.{module}", event)["contents"]
    assert (content["uri"], content["mimeType"]) == (event["resource"], mime_type)


def test_the_profile_follows_the_preferences_and_what_is_said(invoke):
    put(invoke, "/v1/preferences", {"risk_tolerance": "Medium", "preferred_timeframes": ["1h", "4h"]})
    for _ in range(3):
        save(invoke, "ETH/USDT again")
    profile = text(invoke, "user_profile", "context://user-profile")
    assert profile.startswith("User Profile:\n- Preferred timeframes: 1h, 4h\n- Risk tolerance: Medium\n")
    assert "ETH/USDT (3 messages" in profile
    assert text(invoke, "user_profile", "context://user-profile", "bob") == "User Profile:\n- Nothing is known yet."


def test_the_system_prompt_is_the_custom_prompt_as_written(invoke):
    assert text(invoke, "system_prompt", "context://system-prompt") == ""
    put(invoke, "/v1/preferences", {"custom_prompt": "- 손절가를 항상 포함 🙏\n- Be concise"})
    assert text(invoke, "system_prompt", "context://system-prompt") == (
        "Custom Instructions:\n- 손절가를 항상 포함 🙏\n- Be concise"
    )


def test_the_workspace_is_the_documents_object_with_every_number_as_sent(invoke):
    assert json.loads(text(invoke, "workspace_state", "context://workspace-state")) == {
        "currentChart": None,
        "watchlist": [],
        "openPositions": [],
        "recentAlerts": [],
    }
    raw = (
        '{"watchlist":["BTC/USDT"],"openPositions":[{"ticker":"PEPE/USDT","side":"long","size":200.10,'
        '"entryPrice":0.00001700,"currentPrice":1.7E-5,"unrealizedPnL":123456789012345678.123456789}]}'
    )
    assert put(invoke, "/v1/workspace-state", raw)["statusCode"] == 200
    state = text(invoke, "workspace_state", "context://workspace-state")
    assert list(json.loads(state)) == ["currentChart", "watchlist", "openPositions", "recentAlerts"]
    for written in (
        '"size": 200.10',
        '"entryPrice": 0.00001700',
        '"currentPrice": 0.000017',
        "123456789012345678.123456789",
    ):
        assert written in state


def test_the_summary_is_never_older_than_the_last_message(invoke):
    uri = "context://conversation-summary"
    assert text(invoke, "conversation_summary", uri) == "No recent conversation history."
    save(invoke, "Let us talk about stop loss placement")
    assert "stop loss placement" in text(invoke, "conversation_summary", uri)
    save(invoke, "그리고 RSI 지표도")
    newer = text(invoke, "conversation_summary", uri)
    assert newer.endswith("Current focus: indicator")
    assert "그리고 RSI 지표도" in newer
    put(invoke, "/v1/preferences", {"focus": "Swing trading"})
    assert "- Focus: Swing trading" in text(invoke, "conversation_summary", uri)


def test_the_summary_takes_another_query(invoke):
    save(invoke, "hello")
    assert text(invoke, "conversation_summary", "context://conversation-summary?query=stop%20loss").endswith(
        "focus: risk"
    )


def test_a_conversation_is_read_page_by_page_to_its_beginning(invoke):
    for number in range(7):
        save(invoke, f"text {number}", session_id="한글/세션 1", timestamp=f"2026-01-01T00:00:0{number // 2}Z")
    save(invoke, "elsewhere", session_id="other")
    uri, pages = "context://conversation/%ED%95%9C%EA%B8%80%2F%EC%84%B8%EC%85%98%201?limit=3", []
    while uri:
        page = json.loads(text(invoke, "conversation", uri))
        pages.append([message["content"] for message in page["messages"]])
        uri = page["next"]
    assert pages == [["text 4", "text 5", "text 6"], ["text 1", "text 2", "text 3"], ["text 0"]]


def test_a_conversation_may_be_read_before_a_time(invoke):
    for day in (1, 2, 3):
        save(invoke, f"day {day}", session_id="s", timestamp=f"2026-01-0{day}T00:00:00Z")
    page = json.loads(text(invoke, "conversation", "context://conversation/s?before=2026-01-03T00:00:00Z"))
    assert [message["content"] for message in page["messages"]] == ["day 1", "day 2"]


def test_anothers_session_reads_like_one_that_does_not_exist(invoke):
    save(invoke, "mine", session_id="s")
    theirs = text(invoke, "conversation", "context://conversation/s", "bob")
    assert json.loads(theirs) == {"session_id": "s", "messages": [], "next": None}


@pytest.mark.parametrize(
    ("uri", "field"),
    [
        ("context://conversation/s?limit=0", "limit"),
        ("context://conversation/s?limit=x", "limit"),
        ("context://conversation/s?limit=201", "limit"),
        ("context://conversation/s?before=soon", "before"),
        ("context://conversation/s?before=2026-01-01~x", "before"),
        ("context://conversation/s?limit=1&limit=2", "limit"),
    ],
)
def test_a_wrong_variable_is_named(invoke, uri, field):
    error = read(invoke, "conversation", uri)["error"]
    assert (error["code"], error["field"]) == ("invalid_input", field)


@pytest.mark.parametrize("uri", ["context://conversation/s?page=2", "context://nothing", "context://conversation/"])
def test_a_uri_of_another_form_is_not_found(invoke, uri):
    assert read(invoke, "conversation", uri)["error"]["code"] == "not_found"


def test_reading_needs_the_scope(invoke):
    event = direct(scopes=["context:write"], resource="context://user-profile")
    assert invoke("context_resources.user_profile", event)["error"]["code"] == "forbidden"


TALK = (
    ("user", "npm install fails with EACCES on the build server, why?"),
    ("assistant", "Run it as another user?"),
    ("user", "I tried sudo, still the same error"),
    ("assistant", "Then set the npm prefix to a folder of your own: npm config set prefix ~/.npm"),
    ("user", "that fixed it, thanks!"),
)
ASKED = "context://conversation-summary?query=what%20did%20we%20already%20try%20for%20npm%20EACCES"


def test_the_summary_tells_what_was_tried_to_whoever_asks(invoke):
    for number, (role, said) in enumerate(TALK):
        save(invoke, said, role=role, session_id="old", timestamp=f"2025-01-01T10:0{number}:00Z")
    save(invoke, "안녕하세요, npm EACCES 또 나왔어요 😢", session_id="new")
    asked = text(invoke, "conversation_summary", ASKED)
    section = asked.partition("\n\nAlready tried:\n")[2].partition("\n\n")[0]
    assert "npm install fails with EACCES on the build server, why?" in section
    assert "tried: I tried sudo, still the same error" in section
    assert "what helped: Then set the npm prefix to a folder of your own" in section
    assert "Already tried:" not in text(invoke, "conversation_summary", "context://conversation-summary")
    assert text(invoke, "conversation_summary", ASKED, "bob") == "No recent conversation history."


def test_what_was_tried_is_told_when_the_last_message_asks_for_it(invoke):
    for number, (role, said) in enumerate(TALK):
        save(invoke, said, role=role, session_id="s", timestamp=f"2025-01-01T10:0{number}:00Z")
    save(invoke, "npm EACCES 이거 전에 어떻게 해결했지?", session_id="s")
    assert "\n\nAlready tried:\n- " in text(invoke, "conversation_summary", "context://conversation-summary")


@pytest.mark.parametrize("letter", ["y", '"', "가"], ids=["plain", "quotes", "korean"])
def test_a_page_of_long_messages_is_as_many_as_one_answer_carries(invoke, database, letter):
    content = letter * (MAX_CONTENT_BYTES // len(letter.encode()))
    store = ConversationStore(database, "alice")
    for number in range(24):
        store.insert_message(NewMessage("s", f"m{number}", "user", content, {}, None), MOMENT)
    uri, found = "context://conversation/s", []
    while uri:
        event = rest("/v1/resources", "GET", queryStringParameters={"uri": uri})
        answer = invoke("context_resources.conversation", event)
        assert answer["statusCode"] == 200
        assert len(json.dumps(answer)) < 6_291_556
        page = json.loads(json.loads(answer["body"])["contents"][0]["text"])
        found += [message["message_id"] for message in reversed(page["messages"])]
        uri = page["next"]
    assert found == [f"m{number}" for number in reversed(range(24))]


def test_an_answer_that_lambda_cannot_carry_is_too_large_over_https(invoke, database):
    store = ConversationStore(database, "alice")
    for number in range(24):
        store.insert_message(NewMessage("s", f"m{number}", "user", "y" * MAX_CONTENT_BYTES, {}, None), MOMENT)
    answer = invoke("search_conversation", https({"query": "*", "limit": 100}))
    assert (answer["statusCode"], json.loads(answer["body"])["error"]["code"]) == (413, "too_large")
