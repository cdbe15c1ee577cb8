import json
from pathlib import Path

import pytest

from tests.conftest import direct, https


def save(invoke, content, user_id="alice", **arguments):
    arguments = {"role": "user", "content": content, **arguments}
    return invoke("save_message", direct(user_id, arguments=arguments))["structuredContent"]["message"]


def search(invoke, query, user_id="alice", **arguments):
    return invoke("search_conversation", direct(user_id, arguments={"query": query, **arguments}))["structuredContent"]


def contents(found):
    return [hit["message"]["content"] for hit in found["hits"]]


def test_the_golden_event_finds_the_message_of_the_golden_save(invoke):
    for name in ("save_message", "search_conversation"):
        answer = invoke(name, json.loads(Path(f"events/{name}.json").read_text(encoding="utf-8")))
    assert answer["structuredContent"].keys() == {"hits", "below_min_score", "next_cursor"}


def test_a_saved_message_is_found_at_once_with_what_matched(invoke):
    saved = save(invoke, "오늘 끝말잇기 게임을 했다 🙂", metadata={"speaker": "Mina"})
    hit = search(invoke, "끝말잇기", min_score=0)["hits"][0]
    assert hit["message"] == saved
    assert 0 <= hit["score"] <= 1
    assert 0 <= hit["similarity"] <= 1
    assert hit["matched"]["words"] != []


def test_a_day_is_that_of_the_users_time_zone(invoke):
    for content, stamp in (("김치찌개를 먹었어", "2025-11-28T23:30:00Z"), ("비빔밥을 먹었어", "2025-11-29T23:30:00Z")):
        save(invoke, content, timestamp=stamp)
    query = "2025년 11월 29일에 뭐 했지?"
    assert contents(search(invoke, query)) == ["비빔밥을 먹었어"]
    event = json.loads(Path("events/preferences.json").read_text(encoding="utf-8"))
    written = invoke(
        "preferences", {**event, "body": json.dumps({"time_zone": "Asia/Seoul"}), "isBase64Encoded": False}
    )
    assert written["statusCode"] == 200
    assert contents(search(invoke, query)) == ["김치찌개를 먹었어"]


def test_a_star_lists_newest_first_within_a_half_open_range(invoke):
    stamps = ["2026-01-01T00:00:00-05:00", "2026-01-01T05:00:00", 1767225600, 1767225600000, "2016-12-31T23:59:60Z"]
    for number, stamp in enumerate(stamps):
        save(invoke, f"message {number}", timestamp=stamp)
    found = search(invoke, "*", since="2026-01-01T04:59:59Z", until="2026-01-01T05:00:01Z")
    assert sorted(contents(found)) == ["message 0", "message 1"]
    assert contents(search(invoke, "*", until="2026-01-01T05:00:00Z", limit=3)) == [
        "message 3",
        "message 2",
        "message 4",
    ]


def test_another_user_finds_nothing(invoke):
    save(invoke, "the gate code is 4417-BLUE")
    assert search(invoke, "gate code", "bob", min_score=0) == {"hits": [], "below_min_score": 0, "next_cursor": None}


@pytest.mark.parametrize(
    "query",
    [
        "a",
        "가",
        "🙂",
        "C++ AND (",
        "100%_done",
        "'; DROP TABLE x; --",
        ".*[",
        "page\u0000",
        "\ud83d",
        "ab " * 34_000,
        "שלום",
        "*" * 9,
    ],
)
def test_any_query_answers_normally(invoke, query):
    save(invoke, "an ordinary message")
    assert isinstance(search(invoke, query)["hits"], list)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "  "}, "query"),
        ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "limit": 101}, "limit"),
        ({"query": "x", "limit": "5"}, "limit"),
        ({"query": "x", "min_score": 1.1}, "min_score"),
        ({"query": "x", "since": "soon"}, "since"),
        ({"query": "x", "role": "robot"}, "role"),
        ({"query": "x", "cursor": "nonsense"}, "cursor"),
        ({"query": "x", "neighbours": 11}, "neighbours"),
        ({"query": "x", "where": "here"}, "where"),
    ],
)
def test_a_wrong_field_is_named(invoke, arguments, field):
    error = invoke("search_conversation", direct(arguments=arguments))["error"]
    assert (error["code"], error["field"]) == ("invalid_input", field)


def test_pages_hold_every_message_once(invoke):
    for number in range(7):
        save(invoke, f"note {number}")
    seen, cursor = [], None
    while True:
        found = search(invoke, "*", limit=3, **({"cursor": cursor} if cursor else {}))
        seen += contents(found)
        cursor = found["next_cursor"]
        if cursor is None:
            break
    assert seen == [f"note {number}" for number in reversed(range(7))]


def test_https_answers_the_same(invoke):
    save(invoke, "position size is 2 %")
    answer = invoke("search_conversation", https({"query": "position size", "min_score": 0}))
    assert answer["statusCode"] == 200
    assert json.loads(answer["body"]) == search(invoke, "position size", min_score=0)


def test_the_summary_brings_back_what_bears_on_the_last_message(invoke):
    save(invoke, "the gate code is 4417-BLUE", timestamp="2025-01-01T00:00:00Z")
    for number in range(12):
        save(invoke, f"small talk {number}", timestamp=f"2025-02-01T00:00:{number:02}Z")
    save(invoke, "gate code 4417-BLUE", timestamp="2025-03-01T00:00:00Z")
    event = direct(resource="context://conversation-summary")
    (content,) = invoke("context_resources.conversation_summary", event)["contents"]
    assert "Relevant past discussions:\n- " in content["text"]
    assert "ago: the gate code is 4417-BLUE" in content["text"]
