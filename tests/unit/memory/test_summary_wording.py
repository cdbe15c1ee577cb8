from datetime import UTC, datetime, timedelta

import pytest

from satchel.memory.messages import Message
from satchel.memory.summary import Summary, summary_text
from satchel.memory.summary_wording import read_wording, summary_question

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)


def said(number, content, days=0.0):
    return Message("s", f"m{number}", number, "user", content, {}, NOW - timedelta(days=days), timestamp_given=True)


SUMMARY = Summary(
    recent=[said(3, "RSI 필터를 추가할까?"), said(4, "네 🙂")],
    relevant=[said(1, "I prefer simple strategies", 31), said(2, "2 % per trade", 14)],
    preferences=["Risk tolerance: Medium"],
    query="RSI 필터를 추가할까?",
)
ANSWER = {
    "recent": ["User asked about an RSI filter"],
    "past": [{"index": 1, "line": "Risks 2 %"}],
    "focus": "RSI filter",
}


def test_a_models_words_stand_in_our_sections_with_our_ages():
    assert summary_text(SUMMARY, now=NOW, wording=read_wording(ANSWER, SUMMARY)) == (
        "Recent Conversation Summary:\n\n"
        "Last 2 messages (summarised):\n"
        "- User asked about an RSI filter\n\n"
        "Relevant past discussions:\n"
        "- 1 month ago: I prefer simple strategies\n"
        "- 2 weeks ago: Risks 2 %\n\n"
        "Known preferences:\n"
        "- Risk tolerance: Medium\n\n"
        "Current focus: RSI filter"
    )


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"recent": [], "past": [], "focus": "x"},
        {"recent": "text", "past": [], "focus": "x"},
        {"recent": ["  "], "past": [], "focus": "x"},
        {"recent": ["x"], "past": []},
        {"recent": ["x"], "past": [], "focus": " "},
    ],
)
def test_an_answer_that_does_not_hold_together_is_no_answer(answer):
    assert read_wording(answer, SUMMARY) is None


def test_lines_about_messages_that_were_not_sent_are_left_out_and_the_first_of_two_stands():
    past = [
        {"index": 7, "line": "invented"},
        {"index": -1, "line": "invented"},
        {"index": True, "line": "invented"},
        {"index": 0, "line": "first"},
        {"index": 0, "line": "second"},
        {"index": 1, "line": " "},
        "nonsense",
    ]
    assert dict(read_wording(ANSWER | {"past": past}, SUMMARY).past) == {0: "first"}
    assert dict(read_wording(ANSWER | {"past": "nonsense"}, SUMMARY).past) == {}


def test_a_talkative_model_is_cut_to_lines():
    wording = read_wording({"recent": ["a\nb" + "x" * 500] * 20, "past": [], "focus": "y" * 500}, SUMMARY)
    assert len(wording.recent) == 10
    assert all("\n" not in line and len(line) <= 301 for line in (*wording.recent, wording.focus))


def test_the_same_summary_is_the_same_question_and_another_is_another():
    assert summary_question(SUMMARY).key("m") == summary_question(SUMMARY).key("m")
    other = Summary(SUMMARY.recent, SUMMARY.relevant, SUMMARY.preferences, "another concern")
    assert summary_question(other).key("m") != summary_question(SUMMARY).key("m")
