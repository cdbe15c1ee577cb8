from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.memory.intent import read_intent
from satchel.memory.terms import query_terms

NOW = datetime(2023, 5, 10, 12, tzinfo=UTC)


def intent(query, speakers=(), now=NOW):
    return read_intent(query, speakers=speakers, now=now)


@pytest.mark.parametrize(
    ("query", "role"),
    [
        ("What did I say about the garden?", "user"),
        ("What did you recommend to me?", "assistant"),
        ("I once recommended a show to you, what was it?", "user"),
        ("Can you tell me what I said?", "user"),
        ("내가 뭐라고 했지?", "user"),
        ("러스트 책 뭐 추천해 줬지?", "assistant"),
        ("보고서는 어떤 순서로 쓰라고 했어?", "assistant"),
        ("예산이 얼마라고 했지?", None),
        ("我喜欢听什么音乐?", "user"),
        ("你给我推荐过哪些地方?", "assistant"),
        ("garden gate", None),
    ],
)
def test_the_asked_role_is_the_first_subject(query, role):
    assert intent(query).role == role


def test_a_named_speaker_is_asked_about_and_no_role():
    asked = intent("What does ann's brother say I should do?", speakers=["Ann Lee", "Bo", "Annabel"])
    assert (asked.speakers, asked.role) == (frozenset({"Ann Lee"}), None)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("Do you remember what I said about the garden?", ["garden"]),
        ("피아니스트가 누구라고 했지?", ["피아", "아니", "니스", "스트"]),
        ("我曾经在学习编程上遇到了什么问题?", ["学习", "习编", "编程", "程上", "上遇", "遇到", "问题"]),
        ("What happened on May 4th?", ["happened"]),
    ],
)
def test_what_only_asks_is_no_word_to_look_for(query, words):
    assert [word.word for word in query_terms(intent(query).subject)] == words


@pytest.mark.parametrize(("query", "current"), [("Where do I live now?", True), ("Where did I live?", False)])
def test_a_question_about_how_things_are_is_told_from_one_about_the_past(query, current):
    assert intent(query).asks_current == current


@pytest.mark.parametrize(("query", "bare"), [("zebra drawer", True), ("部署", True), ("where is the zebra?", False)])
def test_keywords_are_told_from_a_question(query, bare):
    assert intent(query).keywords == bare


@pytest.mark.parametrize(
    ("query", "counts"),
    [
        ("What do I have on December 5?", False),
        ("What did I say on December 5?", True),
        ("12월 1일에 뭐가 있지?", False),
        ("12월 1일에 뭐라고 했지?", True),
        ("What do I have on May 9?", True),
    ],
)
def test_a_day_to_come_is_a_word_and_not_when_something_was_said(query, counts):
    asked = intent(query)
    assert bool(asked.days) == counts
    assert asked.days_alone == counts or query.startswith("What do I have")


@pytest.mark.parametrize(
    "query",
    [
        "What did we cover last week?",
        "Summarize last week",
        "What came up on May 1?",
        "지난주에 무슨 주제로 이야기했지?",
    ],
)
def test_a_question_for_the_topics_of_a_day_asks_for_nothing_else(query):
    assert intent(query).days_alone


def test_days_are_those_of_the_askers_zone():
    seoul = timezone(timedelta(hours=9))
    asked = intent("yesterday", now=datetime(2023, 5, 11, 8, tzinfo=seoul))
    assert asked.nearness([datetime(2023, 5, 9, hour, 30, tzinfo=UTC) for hour in (15, 14, 15)]) == [1, 0, 1]
    assert asked.spans(NOW) == [(datetime(2023, 5, 10, tzinfo=seoul), datetime(2023, 5, 11, tzinfo=seoul))]


@given(st.text())
def test_any_query_is_read_and_its_subject_keeps_the_length(query):
    assert len(intent(query, speakers=["Ann", "", "(x"]).subject) == len(query)
