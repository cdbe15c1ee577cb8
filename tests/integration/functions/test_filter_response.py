"""`filter_response`, `filtered` and `audit` through their handlers, on a real database."""

import json
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from satchel import filter_upload_wiring, filter_wiring, objects_wiring, wiring
from satchel.errors import UnavailableError
from satchel.filtering import answering
from satchel.filtering.intent import analyze_intent
from satchel.filtering.store import RETENTION, FilterStore
from satchel.filtering.streamed_response import BUDGET_NOTICE
from tests.conftest import direct, forget_wiring, https
from tests.support.filtering import slack_messages

TOKEN = "ghp_" + "T3stOnly" * 4 + "1234"


@pytest.fixture(autouse=True)
def fresh_filter_wiring():
    yield
    for value in vars(filter_wiring).values():
        if hasattr(value, "cache_clear"):
            value.cache_clear()


def ask(invoke: Any, response: Any, user_id: str = "alice", **fields: Any) -> dict[str, Any]:
    arguments = {
        "tool": {"name": "slack_search_messages"},
        "arguments": {"query": "security patch"},
        "question": "Get top 20 messages about security",
        "response": response,
        **fields,
    }
    return invoke("filter_response", direct(user_id, tool="filter_response", arguments=arguments))["structuredContent"]


def read(invoke: Any, uri: str, user_id: str = "alice") -> dict[str, Any]:
    return invoke("filtered", direct(user_id, resource=uri))


def test_the_golden_event_answers(invoke):
    event = json.loads(Path("events/filter_response.json").read_text(encoding="utf-8"))
    answer = invoke("filter_response", event)["structuredContent"]
    assert answer["data"]["ok"] is True
    assert answer["metadata"]["filteredItemCount"] == 2


def test_the_other_golden_events_answer(invoke):
    event = json.loads(Path("events/filtered.json").read_text(encoding="utf-8"))
    assert invoke("filtered", event)["error"]["code"] == "not_found"
    event = json.loads(Path("events/audit.json").read_text(encoding="utf-8"))
    assert invoke("audit", event)["structuredContent"] == {"rows": [], "next_cursor": None}


def test_a_thousand_messages_come_back_as_twenty_and_the_rest_under_a_handle(invoke):
    messages = slack_messages(1_000)
    answer = ask(invoke, messages)
    assert len(answer["data"]) == 20
    assert answer["reduction"] == 0.98
    assert answer["metadata"]["originalItemCount"] == 1_000
    assert sum(answer["metadata"]["removedByReason"].values()) == 980
    uri, seen = answer["handle"], []
    while uri:
        page = json.loads(read(invoke, uri)["contents"][0]["text"])
        assert page["total"] == 980
        seen += [row["item"]["id"] for row in page["items"]]
        uri = page["next"]
    assert sorted(seen + [m["id"] for m in answer["data"]]) == sorted(m["id"] for m in messages)


def test_what_was_cut_can_be_asked_for_by_a_question(invoke):
    answer = ask(invoke, slack_messages(300))
    page = json.loads(read(invoke, answer["handle"] + "?query=office%20plants")["contents"][0]["text"])
    assert page["items"][0]["item"]["text"] == "new office plants"


def test_a_handle_is_its_owners_alone_and_expires(invoke, database):
    answer = ask(invoke, slack_messages(100))
    assert read(invoke, answer["handle"], "bob")["error"]["code"] == "not_found"
    assert read(invoke, answer["handle"] + "?cursor=99")["error"]["code"] == "not_found"
    assert read(invoke, "context://filtered/a.b")["error"]["code"] == "invalid_input"
    name = answer["handle"].rpartition("/")[2]
    store = FilterStore(database, "alice")
    later = wiring.clock() + RETENTION + timedelta(seconds=1)
    assert store.result(name, later) is None
    store.keep("newer", "x", [{"item": 1}], later)
    assert store.items(name) == []


def test_a_secret_is_nowhere_and_its_redaction_is_in_the_audit_log(invoke, admin_dsn):
    messages = slack_messages(200)
    for message in messages:
        message["text"] += f" token {TOKEN}"
    answer = ask(invoke, messages)
    assert "ghp_" not in json.dumps(answer)
    assert "ghp_" not in json.dumps(read(invoke, answer["handle"]))
    event = https(None, queryStringParameters={"limit": "5"})
    page = json.loads(invoke("audit", event)["body"])
    assert len(page["rows"]) == 5
    assert set(page["rows"][0]) == {"timestamp", "toolName", "patternMatched", "fieldPath", "actionTaken"}
    rest = json.loads(
        invoke("audit", https(None, queryStringParameters={"limit": "1000", "cursor": page["next_cursor"]}))["body"]
    )
    assert len(rest["rows"]) == 195
    assert rest["next_cursor"] is None
    with psycopg.connect(admin_dsn) as connection:
        for table in ("filtered_pages", "filter_audit"):
            stored = connection.execute(f"SELECT string_agg(t::text, '') FROM {table} t").fetchone()[0]
            assert "ghp_" not in stored


def test_the_audit_log_is_the_callers_own_and_can_be_turned_off(invoke):
    ask(invoke, {"note": TOKEN}, config={"auditSensitiveAccess": False})
    ask(invoke, {"note": TOKEN}, user_id="bob")
    page = json.loads(invoke("audit", https(None, queryStringParameters=None))["body"])
    assert page["rows"] == []


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"tool": {}}, "tool.name"),
        ({"config": {"maxDepth": 0}}, "config.maxDepth"),
        ({"config": {"colour": 1}}, "config.colour"),
        ({"config": {"redactPatterns": ["(?=x)"]}}, "redactPatterns[0]"),
        ({"intent": {"maxResults": 0}}, "intent.maxResults"),
        ({"intent": {"confidence": 2}}, "intent.confidence"),
        ({"explain": "loudly"}, "explain"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_field(invoke, fields, field):
    arguments = {"tool": {"name": "x"}, "response": [], **fields}
    error = invoke("filter_response", direct(tool="filter_response", arguments=arguments))["error"]
    assert error["code"] == "invalid_input"
    assert error["field"].startswith(field)


def test_a_response_is_needed_and_may_be_null(invoke):
    arguments = {"tool": {"name": "x"}}
    error = invoke("filter_response", direct(arguments=arguments))["error"]
    assert (error["code"], error["field"]) == ("invalid_input", "response")
    answer = invoke("filter_response", direct(arguments={**arguments, "response": None}))["structuredContent"]
    assert (answer["data"], answer["reduction"], answer["handle"]) == (None, 0, None)


@pytest.mark.parametrize(
    "body",
    [
        '{"tool": {"name": "x"}, "response": ',
        '{"tool": {"name": "x"}, "response": NaN}',
        '{"tool": {"name": "x"}, "response": {"a": 1, "a": 2}}',
        '{"tool": {"name": "x"}, "response": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"tool": {"name": "x"}, "response": ' + "[" * 300 + "]" * 300 + "}",
    ],
)
def test_a_body_that_cannot_be_read_one_way_is_a_400(invoke, body):
    assert invoke("filter_response", https(body))["statusCode"] == 400


def test_hostile_answers_are_filtered(invoke):
    deep: Any = "security"
    for _ in range(200):
        deep = {"a": deep}
    assert ask(invoke, deep)["notice"] is None
    assert len(ask(invoke, ["security \ud800\x00"] * 30)["data"]) == 20
    assert ask(invoke, "x" * 200_000)["reduction"] > 0.9
    handle = "context://filtered/self"
    assert ask(invoke, [{"security": handle, "see": handle}] * 30)["data"][0]["see"] == handle
    wide = ask(invoke, {f"k{i}": i for i in range(50_000)}, config={"maxFields": 5})
    assert len(wide["data"]) == 5


@pytest.mark.timeout(120)  # bounded time: what takes the square of its size would take hours
@pytest.mark.parametrize(
    "response",
    [
        {f"key {i}": i for i in range(300_000)},
        [{"text": "lunch " * 400} for _ in range(4_000)],
        "security " * 1_100_000,
        ["x" * 200_000] * 40,
        json.dumps([{"text": "security \ud800"}] * 20_000),
        "\n".join(f"2026-01-01T00:00:00Z ERROR security \udfff {i}" for i in range(100_000)),
        {"a": [{"b": [{"c": "security"}] * 300}] * 300},
    ],
    ids=["wide", "ten-megabytes", "long-text", "one-character", "json-in-text", "log", "nested-arrays"],
)
def test_a_large_answer_is_filtered_in_bounded_time(invoke, response):
    answer = ask(invoke, response)
    assert answer["notice"] is None
    assert answer["metadata"]["bytes"]["after"] < answer["metadata"]["bytes"]["before"]


def test_tokens_are_counted_in_a_vocabulary_where_asked(invoke):
    tokens = ask(invoke, ["hello world"], config={"tokenEncoding": "o200k_base"})["metadata"]["tokensEstimate"]
    assert tokens == {"before": 4, "after": 4, "encoding": "estimate: o200k_base"}


def test_metrics_are_recorded_under_the_documents_names(invoke, capsys):
    ask(invoke, slack_messages(100))
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]
    [metrics] = lines
    assert {
        "intent_analysis_latency_ms",
        "scoring_latency_ms",
        "items_before",
        "items_after",
        "reduction_ratio",
        "avg_score",
        "sensitive_data_detected_count",
        "redactions_applied",
        "audit_log_entries",
    } <= metrics.keys()
    assert metrics["items_before"] == [100.0]
    assert metrics["tool_kind"] == "slack"


def test_where_the_store_is_away_the_answer_comes_without_a_handle(invoke, monkeypatch):
    def refuse(*args, **kwargs):
        raise UnavailableError("the store does not answer")

    monkeypatch.setattr(FilterStore, "keep", refuse)
    answer = ask(invoke, slack_messages(100))
    assert answer["handle"] is None
    assert "could not be kept" in answer["notice"]
    assert len(answer["data"]) == 4


def test_the_intent_of_the_same_call_is_read_once(invoke, monkeypatch):
    read_before = []
    monkeypatch.setattr(
        answering, "analyze_intent", lambda *args, **kw: read_before.append(args) or analyze_intent(*args, **kw)
    )
    for question in ("Get security messages", "Get security messages", "Get lunch messages"):
        ask(invoke, slack_messages(30), question=question)
    assert len(read_before) == 2


@pytest.fixture
def upload(invoke, monkeypatch, tmp_path):
    """Sends an answer by its link and gives its id."""
    for name, value in (("FOLDER", str(tmp_path)), ("URL", "http://localhost/local/objects"), ("KEY", "k")):
        monkeypatch.setenv(f"SATCHEL_OBJECTS_{name}", value)
    forget_wiring()

    def send(content: bytes) -> str:
        event = json.loads(Path("events/filter_upload.json").read_text(encoding="utf-8"))
        told = json.loads(invoke("filter_upload", event)["body"])
        (key,) = parse_qs(urlsplit(told["uploadUrl"]).query)["key"]
        assert told["expiresInSeconds"] == 3_600
        objects_wiring.objects().write(key, BytesIO(content))
        return told["uploadId"]

    return send


def ask_uploaded(invoke, upload_id, user_id="alice", **fields):
    arguments = {
        "tool": {"name": "slack_search_messages"},
        "question": "Get top 20 messages about security",
        "uploadId": upload_id,
        **fields,
    }
    return invoke("filter_response", direct(user_id, tool="filter_response", arguments=arguments))


def test_an_uploaded_answer_is_filtered_as_it_is_read(invoke, upload, capsys):
    messages = slack_messages(20_000)
    messages[25]["text"] = f"security token {TOKEN} leaked"
    for content in (json.dumps(messages), "\n".join(map(json.dumps, messages))):
        answer = ask_uploaded(invoke, upload(content.encode()))["structuredContent"]
        metadata = answer["metadata"]
        assert len(answer["data"]) == metadata["filteredItemCount"] == 20
        assert all("security" in item["text"] for item in answer["data"])
        assert metadata["originalItemCount"] == 20 + sum(metadata["removedByReason"].values()) == 20_000
        assert metadata["bytes"]["before"] == len(content)
        assert metadata["filterStrategy"] == "stream:bm25"
        assert len(metadata["removedItems"]) == 3
        assert TOKEN not in json.dumps(answer)
        assert json.loads(read(invoke, answer["handle"])["contents"][0]["text"])["total"] == 60
    metrics = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line][-1]
    assert metrics["chunks_processed"] == [10.0]
    assert metrics["peak_memory_bytes"][0] > 0
    assert metrics["progressive_threshold"][0] > 0


@pytest.mark.parametrize("explain", ["brief", "full"])
def test_what_was_cut_of_a_short_upload_is_under_its_handle_as_if_it_were_sent(invoke, upload, explain):
    tickets = [
        {"id": i, "title": f"ticket about {word}"} for i, word in enumerate(["lunch", "pool", "tax", "desk"] * 3)
    ]
    tickets[5] = {"id": 5, "title": "the nightly backup failed"}
    tickets[6]["title"] += f", token {TOKEN}"
    fields = {"tool": {"name": "jira_search"}, "question": "which backup failed?", "explain": explain}
    answer = ask_uploaded(invoke, upload(json.dumps(tickets).encode()), **fields)["structuredContent"]
    sent = ask(invoke, tickets, arguments={}, **fields)
    assert answer["data"] == sent["data"] == [tickets[5]]
    assert answer["metadata"]["removedItems"] == sent["metadata"]["removedItems"]
    assert len(answer["metadata"]["removedItems"]) == (11 if explain == "full" else 3)
    assert answer["metadata"]["removedByReason"] == {"keyword_score_below_threshold": 11}
    page, inline = (json.loads(read(invoke, a["handle"])["contents"][0]["text"]) for a in (answer, sent))
    assert page["items"] == inline["items"]
    assert page["total"] == 11
    assert "ghp_" not in json.dumps([page, answer])


def test_a_million_keys_are_filtered_as_they_are_read(invoke, upload):
    items = [{f"key{row}_{column}": column for column in range(10)} for row in range(100_000)]
    for place in (7, 50_000, 99_999):
        items[place]["note"] = f"security patch, token {TOKEN}"
    answer = ask_uploaded(invoke, upload(json.dumps(items).encode()))["structuredContent"]
    assert [item["note"] for item in answer["data"]] == ["security patch, token [REDACTED]"] * 3
    assert answer["metadata"]["originalItemCount"] == 100_000
    assert answer["metadata"]["removedByReason"] == {"keyword_score_below_threshold": 99_997}
    assert answer["notice"] is None


def test_one_object_that_is_too_large_to_hold_is_not_answered_with_and_that_is_said(invoke, upload):
    line = json.dumps({f"k{i}": i for i in range(600_000)}, separators=(",", ":")).encode()
    answer = ask_uploaded(invoke, upload(line))["structuredContent"]
    assert (answer["data"], answer["metadata"]["originalItemCount"]) == ([], 1)
    assert answer["notice"] == BUDGET_NOTICE


def test_an_uploaded_object_is_filtered_where_its_array_is(invoke, upload):
    content = json.dumps({"data": {"messages": slack_messages(100)}}).encode()
    answer = ask_uploaded(invoke, upload(content), itemsPath="data.messages")["structuredContent"]
    assert answer["metadata"]["originalItemCount"] == 100


@pytest.mark.parametrize(
    ("content", "fields", "field"),
    [
        (b"[]", {"uploadId": "unknown"}, "uploadId"),
        (b"[]", {"uploadId": "../../x"}, "uploadId"),
        (b"[]", {"user_id": "bob"}, "uploadId"),
        (b"[]", {"response": []}, "response"),
        (b'{"text": "a"}\n{"text": ', {}, "uploadId"),
        (b"[1, 2", {}, "uploadId"),
        (b'{"text": NaN}', {}, "uploadId"),
        (b"[" * 100_000, {}, "uploadId"),
    ],
)
def test_an_upload_that_cannot_be_filtered_is_refused(invoke, upload, content, fields, field):
    given = {"uploadId": upload(content), **fields}
    error = ask_uploaded(invoke, given.pop("uploadId"), **given)["error"]
    assert (error["code"], error["field"]) == ("invalid_input", field)


def test_an_upload_over_the_limit_is_too_large(invoke, upload, monkeypatch):
    monkeypatch.setattr(filter_upload_wiring, "MAX_BYTES", 10)
    assert ask_uploaded(invoke, upload(json.dumps(slack_messages(5)).encode()))["error"]["code"] == "too_large"
