from datetime import UTC, datetime

import pytest

from satchel.memory.attempts import Attempt, asks_what_was_tried, attempt_line

AT = datetime(2025, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "what did we already try?", "What have you tried so far", "have we tried clearing the cache?",
        "did anything work? what was ruled out?", "How did we fix the proxy last time?", "which fix worked?",
        "뭐 시도해봤지?", "전에 어떻게 해결했어?", "지금까지 뭘 해 봤나요", "이미 해본 방법 알려줘",
    ],
)  # fmt: skip
def test_questions_about_what_was_tried_are_known(text):
    assert asks_what_was_tried(text)


@pytest.mark.parametrize(
    "text",
    [
        "try the new exchange",
        "BTC entry?",
        "what is a stop loss",
        "이 방법 시도해줘",
        "해결책이 필요해",
        "I worked late",
        "",
    ],
)
def test_other_talk_asks_for_nothing_that_was_tried(text):
    assert not asks_what_was_tried(text)


def test_a_line_tells_the_problem_the_last_trials_and_what_helped():
    attempt = Attempt(AT, "npm install fails", ("a", "b\nb", "c", "d 🚀"), "use nvm")
    assert attempt_line(attempt) == "npm install fails — tried: b b; c; d 🚀 — what helped: use nvm"
    assert attempt_line(Attempt(AT, "", (), "재부팅")) == "what helped: 재부팅"
