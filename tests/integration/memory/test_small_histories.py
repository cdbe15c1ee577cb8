"""What a newcomer meets: a few messages, the default floor, and the encoder that is shipped."""

from datetime import UTC, datetime, timedelta

import pytest

from satchel.embeddings.e5 import E5Encoder
from satchel.memory.hits import DEFAULT_MIN_SCORE


@pytest.fixture
def newcomer(history, e5_folder):
    history.encoder = E5Encoder(e5_folder)
    return history


def found(history, query):
    return history.found(query, min_score=DEFAULT_MIN_SCORE)


NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)  # when a test of this folder asks
MOVED = "I moved to Seoul last week"
DOG = "My dog is called Bori 🐶"
DOG_KO = "우리 강아지 이름은 보리야 🐶"


@pytest.mark.parametrize(
    ("said", "query"),
    [
        (MOVED, "where do I live?"),
        (MOVED, "내가 어디 살지?"),
        (DOG, "what is my dog's name"),
        (DOG, "우리 강아지 이름이 뭐야"),
        (DOG, "Bori"),
        (DOG_KO, "우리 강아지 이름이 뭐야"),
        (DOG_KO, "what is my dog's name"),
        ("我上周搬到了首尔。", "我住在哪里？"),
        ("The gate code is 4417.", "4417"),
    ],
)
def test_the_first_messages_are_found_at_the_default_floor(newcomer, said, query):
    newcomer.say(said)
    assert found(newcomer, query) == [said]
    for content in ("Hello there!", "Thanks, that is all for now."):
        newcomer.say(content)
    assert found(newcomer, query)[0] == said


@pytest.mark.parametrize(
    "query",
    [
        "What is my gate code?",
        "How did the database migration go?",
        "Which colour do I like best?",
        "Kubernetes ingress",
        "배포가 왜 실패했지?",
        "我们的预算怎么了？",
    ],
)
def test_what_was_never_said_is_not_found_among_a_few_messages(newcomer, query):
    for content in (MOVED, DOG, "Thanks, that is all for now."):
        newcomer.say(content)
    result = newcomer.search(query, min_score=DEFAULT_MIN_SCORE)
    assert [hit.message.content for hit in result.hits] == []
    assert result.below_min_score == 3


@pytest.mark.parametrize("query", ["hi", "again"])
def test_a_short_word_finds_its_message_and_leaves_the_rest_of_the_session_below_the_floor(newcomer, query):
    for content in ("hi there", "Let us try that again.", "The sourdough starter smells of apples.", MOVED, DOG):
        newcomer.say(content)
    assert query in found(newcomer, query)[0]
    assert not set(found(newcomer, query)) & {"The sourdough starter smells of apples.", MOVED, DOG}


def test_a_score_hardly_changes_as_unrelated_messages_arrive(newcomer):
    newcomer.say(DOG)
    (alone,) = newcomer.search("what is my dog's name").hits
    for number in range(12):
        newcomer.say(f"Invoice {number} was paid on time.", session="s2")
    first = newcomer.search("what is my dog's name").hits[0]
    assert first.message == alone.message
    assert DEFAULT_MIN_SCORE < first.score <= alone.score


DAYS = [
    "I fixed the fence.",
    "Mina called about the rent.",
    "점심은 김치찌개였다",
    "The build is green again.",
    "牙医改到三点",
]


@pytest.mark.parametrize(
    ("query", "days_ago"),
    [
        ("what did I say yesterday?", 1),
        ("What happened two days ago?", 2),
        ("어제 내가 뭐라고 했어?", 1),
        ("그저께 무슨 얘기 했지?", 2),
        ("昨天我说了什么？", 1),
        ("what did we talk about on {three:%B %d}?", 3),
        ("on {three:%A}", 3),
        ("What did we talk about in our first conversation?", 5),
        ("우리 첫 대화 때 무슨 얘기 했지?", 5),
        ("我们第一次聊天的时候聊了什么话题?", 5),
    ],
)
def test_a_question_about_a_day_and_nothing_else_finds_what_was_said_on_it(newcomer, query, days_ago):
    for ago, content in enumerate(DAYS, start=1):
        newcomer.say(content, at=NOW - timedelta(days=ago))
    assert found(newcomer, query.format(three=NOW - timedelta(days=3))) == [DAYS[days_ago - 1]]


@pytest.mark.parametrize("query", ["What do I have on March 9?", "3월 9일에 뭐가 있지?"])
def test_a_question_about_a_day_to_come_finds_what_names_it(newcomer, query):
    for content in ("The dentist is on March 9 at 3 pm.", "3월 9일에 치과 예약이 있어.", "I fixed the fence."):
        newcomer.say(content)
    assert sorted(found(newcomer, query)[:2]) == ["3월 9일에 치과 예약이 있어.", "The dentist is on March 9 at 3 pm."]


def test_a_question_about_a_day_and_a_subject_needs_both(newcomer):
    for ago, content in enumerate(DAYS, start=1):
        newcomer.say(content, at=NOW - timedelta(days=ago))
    assert found(newcomer, "what did Mina call about two days ago?") == [DAYS[1]]
    assert found(newcomer, "how was the concert yesterday?") == []
