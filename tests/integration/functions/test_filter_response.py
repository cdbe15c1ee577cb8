"""`filter_response`, `filtered` and `audit` through their handlers, on a real database."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from satchel import filter_wiring, wiring
from satchel.errors import UnavailableError
from satchel.filtering import answering
from satchel.filtering.intent import analyze_intent
from satchel.filtering.store import RETENTION, FilterStore
from tests.conftest import direct, https
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
    assert len(answer["data"]) == 20


def test_the_intent_of_the_same_call_is_read_once(invoke, monkeypatch):
    read_before = []
    monkeypatch.setattr(
        answering, "analyze_intent", lambda *args, **kw: read_before.append(args) or analyze_intent(*args, **kw)
    )
    for question in ("Get security messages", "Get security messages", "Get lunch messages"):
        ask(invoke, slack_messages(30), question=question)
    assert len(read_before) == 2
