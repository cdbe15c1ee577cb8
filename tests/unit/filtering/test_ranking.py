from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.filtering import ranking
from satchel.filtering.intent import analyze_intent
from satchel.filtering.tool_profiles import ToolProfile, default_profiles
from tests.support.filtering import create_mock_intent_analysis, jira_issues

GENERIC = ToolProfile("generic")


def order(items: list[Any], profile: ToolProfile = GENERIC, **intent: Any) -> list[int]:
    return ranking.rank(items, create_mock_intent_analysis(**intent), profile).order


texts = st.lists(
    st.sampled_from(["security", "insecurity", "patch", "lunch", "cat", "dog", "update", "보안"]), max_size=6
)
messages = st.lists(
    st.fixed_dictionaries(
        {"user": st.sampled_from(["ann", "bob"]), "ts": st.integers(0, 9).map(str), "text": texts.map(" ".join)}
    ),
    max_size=30,
)


@given(messages, st.sampled_from(["security", "patch", "보안"]))
def test_an_item_with_a_keyword_never_comes_after_one_without(items: list[dict[str, Any]], keyword: str) -> None:
    ranked = order(items, keywords=(keyword,), intent="update cat dog")
    contains = [keyword in items[index]["text"] for index in ranked]
    assert contains == sorted(contains, reverse=True)
    assert sorted(ranked) == list(range(len(items)))


@given(messages)
def test_ties_keep_the_order_of_the_array(items: list[dict[str, Any]]) -> None:
    assert order(items, keywords=("absent",), intent="") == list(range(len(items)))


def test_words_match_by_stem_and_inside_camel_case() -> None:
    items = ["nothing", "several vulnerabilities", "ApacheHttpClient is used", "a clientele"]
    assert order(items, keywords=("vulnerability",), intent="")[0] == 1
    assert order(items, keywords=("client",), intent="")[0] == 2


def test_the_rarer_word_weighs_more() -> None:
    items = ["cat"] * 8 + ["cat dog", "dog"]
    assert set(order(items, keywords=("cat", "dog"), intent="")[:2]) == {8, 9}


def test_fields_weigh_as_the_profile_says() -> None:
    items = [{"body": "outage"}, {"title": "outage"}, {"body": "calm"}]
    assert order(items, ToolProfile("x", field_weights={"title": 3.0}), keywords=("outage",), intent="")[0] == 1


def test_keywords_of_several_words_count_as_they_stand() -> None:
    items = ["rate high limit", "the rate limit was hit", "x", "y"]
    assert order(items, keywords=("rate limit",), intent="")[0] == 1


def test_scripts_without_spaces_and_glued_endings_match() -> None:
    items = ["今天讨论了部署方案", "오늘 끝말잇기를 했다", "l'été dernier à Nîmes", "other"]
    assert order(items, keywords=("部署",), intent="")[0] == 0
    assert order(items, keywords=("끝말잇기",), intent="")[0] == 1
    assert order(items, keywords=("ete",), intent="")[0] == 2


def test_a_value_named_in_the_question_lifts_the_items_that_have_it() -> None:
    issues = jira_issues()
    ranked = order(
        issues, default_profiles().of_tool("jira"), keywords=("HttpClient",), intent="Critical issues about HttpClient"
    )
    critical = [i for i in ranked[:20] if "HttpClient" in issues[i]["title"] and issues[i]["priority"] == "Critical"]
    assert ranked[: len(critical)] == critical
    assert critical


def test_a_date_lifts_by_the_column_that_the_words_before_it_name() -> None:
    items = [{"created": f"2020-0{1 + i % 9}-01", "resolved": f"202{i % 3}-06-01", "text": "leak"} for i in range(30)]
    ranked = order(items, keywords=("leak",), intent="leak resolved in 2021")
    assert {items[i]["resolved"][:4] for i in ranked[:10]} == {"2021"}


def test_epoch_times_count_as_dates() -> None:
    items = [{"ts": 1_577_836_800 + 86_400 * 40 * i, "text": "leak"} for i in range(20)]
    ranked = order(items, keywords=("leak",), intent="", filters={"date_range": ["2021-01-01", "2021-03-31"]})
    assert sorted(ranked[:2]) == [10, 11]


def test_filters_are_globs_over_the_column_they_speak_of() -> None:
    items = [{"channel": f"{'team' if i % 3 else 'random'}-{i}", "text": "patch"} for i in range(12)]
    ranked = order(items, default_profiles().of_tool("slack"), filters={"channels": ["#random-*"]}, intent="")
    assert sorted(ranked[:4]) == [0, 3, 6, 9]


def test_filters_alone_give_an_order() -> None:
    items = [{"status": "open" if i == 7 else "closed"} for i in range(10)]
    assert order(items, default_profiles().of_tool("jira"), keywords=(), intent="", filters={"status": "open"})[0] == 7


def test_a_reply_counts_with_the_message_it_answers() -> None:
    chat = [
        {"user": "ann", "ts": "1", "text": "gstreamer modules will not install"},
        {"user": "cid", "ts": "2", "text": "nice weather"},
        {"user": "bob", "ts": "3", "text": "ann: try the other repository"},
        {"user": "dee", "ts": "4", "text": "lunch?"},
        {"user": "ann", "ts": "5", "text": "bob: that did it"},
        {"user": "cid", "ts": "6", "text": "cold though"},
        {"user": "dee", "ts": "7", "text": "pizza"},
        {"user": "cid", "ts": "8", "text": "rain tomorrow"},
    ]
    assert set(order(chat, keywords=("gstreamer",), intent="")[:3]) == {0, 2, 4}
    newest_first = list(reversed(chat))
    assert set(order(newest_first, keywords=("gstreamer",), intent="")[:3]) == {7, 5, 3}


def test_a_thread_holds_together() -> None:
    chat = [
        {
            "user": {"name": f"u{i % 3}"},
            "ts": f"{i}.0",
            "thread_ts": "t1" if i in (0, 9) else f"x{i}",
            "text": f"word{i}",
        }
        for i in range(12)
    ]
    assert order(chat, keywords=("word0",), intent="")[:2] == [0, 9]


def chatter(*, seconds_apart: int) -> list[dict[str, Any]]:
    texts = [
        *(
            "happy birthday",
            "standup in 5",
            "the disk on db-1 is full",
            "lunch?",
            "deploy is done",
            "new coffee machine",
        ),
        *("결제 오류 났어요, 카드 승인이 안 돼요", "the vpn is down again", "회식 장소 정해요 🍜", "out tomorrow"),
        *("somebody leaked an AWS key", "PR 42 needs a review", "flaky test in CI", "who has the projector", "hi"),
    ]
    return [
        {"channel": "general", "user": f"u{i % 5}", "text": text, "ts": f"{1_764_460_800 + i * seconds_apart}.0001"}
        for i, text in enumerate(texts)
    ]


@pytest.mark.parametrize("seconds_apart", [1, 600])
@pytest.mark.parametrize(
    ("question", "answers"), [("disk", [2]), ("결제 오류", [6]), ("which key leaked?", [10]), ("is the vpn up?", [7])]
)
def test_a_message_that_only_stands_near_is_not_brought_in(
    question: str, answers: list[int], seconds_apart: int
) -> None:
    profile = default_profiles().of_tool("slack_search_messages")
    intent = analyze_intent("slack_search_messages", {}, question, profile=profile)
    for messages in (chatter(seconds_apart=seconds_apart), chatter(seconds_apart=-seconds_apart)):
        ranked = ranking.rank(messages, intent, profile)
        assert ranked.is_chat
        assert [i for i in ranked.order if ranked.scores[i] > 0] == answers


def brought_in(messages: list[dict[str, Any]]) -> set[int]:
    ranked = ranking.rank(messages, create_mock_intent_analysis(keywords=("disk",), intent=""), GENERIC)
    return {i for i, score in enumerate(ranked.scores) if score > 0}


def test_a_reply_is_brought_in_from_the_same_channel_and_the_same_hour_only() -> None:
    messages = chatter(seconds_apart=60)
    messages[5] |= {"text": "u2: I free some space"}
    # u2 spoke next in place 7, which is read as the answer; what u2 said later is not.
    assert brought_in(messages) == {2, 5, 7}
    messages[7]["user"] = "u9"
    messages[12]["user"] = "u9"
    assert brought_in(messages) == {2, 5}
    messages[5]["channel"] = "random"
    assert brought_in(messages) == {2}
    messages[5] |= {"channel": "general", "ts": str(1_764_460_800 + 90_000)}
    assert brought_in(messages) == {2}
    for message, hour in zip(messages, range(15), strict=True):
        message["ts"] = f"2026-11-30T{hour:02}:00:00Z"
    assert brought_in(messages) == {2}
    for message in messages:
        message["ts"] = "a while ago"  # then the number of messages between decides alone
    assert brought_in(messages) == {2, 5}


def test_a_speaker_who_goes_on_at_once_is_heard_out() -> None:
    messages = chatter(seconds_apart=60)
    messages[3] |= {"user": "u2", "text": "98% and growing"}
    assert brought_in(messages) == {2, 3}
    assert brought_in([m | {"ts": str(i * 600_000 + 1_764_460_800_000)} for i, m in enumerate(messages)]) == {2}


def test_negatives_push_down() -> None:
    items = ["error timeout", "error disk", "calm"]
    assert order(items, keywords=("error",), intent="", negatives=("timeout",)) == [1, 0, 2]


def test_what_the_best_items_share_lifts_others_that_match() -> None:
    items = [
        "refund card payment",
        "refund card payment",
        "refund card payment",
        "refund lottery ticket",
        "refund payment overdue",
        *["unrelated"] * 20,
    ]
    assert order(items, keywords=("refund",), intent="")[3:5] == [4, 3]


def test_values_of_any_kind_and_depth_are_ranked() -> None:
    deep: Any = "needle"
    for _ in range(55):
        deep = {"a": [deep]} if isinstance(deep, str) else {"a": deep}
    items = [None, True, 3.5, ["needle"], {"a": {"b": ["x", 12]}}, deep, "\ud800", "İstanbul needle"]
    assert set(order(items, keywords=("needle",), intent="")[:3]) == {3, 5, 7}
    assert order(items, keywords=("12",), intent="")[0] == 4


def test_empty_places_go_to_items_that_share_words_with_the_best_and_stay_behind_them():
    items = [
        {"text": "kayak hire at the lake with paddles"},
        {"text": "kayak paddles and life jackets"},
        {"text": "canoe paddles for the lake"},
        *[{"text": f"tax form {i} for the office"} for i in range(30)],
    ]
    ranked = ranking.rank(
        items, create_mock_intent_analysis(intent="kayak", keywords=("kayak",), max_results=5), GENERIC
    )
    assert ranked.order[:3] == [1, 0, 2]  # the shorter one first
    assert ranked.scores[0] > ranked.scores[2] > 0
    assert all(score == 0 for score in ranked.scores[3:])


def test_arrays_of_one_shape_rank_as_arrays_of_many_do():
    rows = [{"id": i, "name": f"kayak {i}" if i % 3 == 0 else None, "open": True, "price": 1.5 * i} for i in range(40)]
    intent = create_mock_intent_analysis(intent="kayak", keywords=("kayak",), max_results=5)
    uneven = [*rows, {"name": "other"}]
    assert (
        ranking.rank(rows, intent, GENERIC).order[:14]
        == ranking.rank(uneven, intent, GENERIC).order[:14]
        == list(range(0, 40, 3))
    )
