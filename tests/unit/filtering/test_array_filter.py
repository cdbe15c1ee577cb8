from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from satchel.filtering.array_filter import LLM_THRESHOLD, MAX_JUDGED, select
from satchel.filtering.intent import Intent, analyze_intent
from satchel.filtering.tool_profiles import ToolProfile, default_profiles
from tests.support.filtering import create_mock_intent_analysis, jira_issues, slack_messages

PROFILES = default_profiles()
GENERIC = ToolProfile("generic")


def test_a_thousand_slack_messages_become_the_twenty_that_matter() -> None:
    messages = slack_messages(1_000)
    selection = select(messages, create_mock_intent_analysis(), PROFILES.of_tool("slack_search_messages"))
    assert len(selection.kept) == 20
    assert all("security" in messages[i]["text"] for i in selection.kept)


def test_a_question_alone_finds_them_too() -> None:
    profile = PROFILES.of_tool("slack_search_messages")
    messages = slack_messages(1_000)
    intent = analyze_intent(
        "slack_search_messages", {"channels": ["team-*"]}, "Get top 20 messages about security patches", profile=profile
    )
    selection = select(messages, intent, profile)
    assert len(selection.kept) == 20
    assert all("security" in messages[i]["text"] for i in selection.kept)
    assert {messages[i]["channel"] for i in selection.kept} == {"team-core"}


json_items = st.lists(
    st.one_of(
        st.text("abcdef ", max_size=12), st.integers(), st.none(), st.dictionaries(st.text("xyz"), st.text("ab "))
    ),
    max_size=40,
)


@given(json_items, st.integers(1, 15), st.sampled_from([("abc",), ("d", "e"), ()]))
def test_kept_and_removed_are_the_whole_array(items: list[Any], wanted: int, keywords: tuple[str, ...]) -> None:
    intent = create_mock_intent_analysis(keywords=keywords, max_results=wanted, intent="")
    selection = select(items, intent, GENERIC)
    seen = [*selection.kept, *(verdict.place for verdict in selection.removed)]
    assert sorted(seen) == list(range(len(items)))
    assert len(selection.kept) <= max(wanted, 0)
    assert select(items, intent, GENERIC) == selection


def test_each_removal_says_why_with_score_and_threshold() -> None:
    items = ["security patch", "security", "lunch", "security cat"]
    selection = select(items, create_mock_intent_analysis(keywords=("security",), max_results=2), GENERIC)
    by_place = {verdict.place: verdict for verdict in selection.removed}
    assert by_place[2].reason == "keyword_score_below_threshold"
    assert by_place[2].score <= by_place[2].threshold
    [beyond] = [v for v in selection.removed if v.reason == "exceeded_max_results"]
    assert 0 < beyond.score <= beyond.threshold


def test_what_was_removed_for_its_score_never_reached_the_threshold_that_is_told() -> None:
    issues = [*jira_issues(40), *({"id": f"X-{i}", "title": "lunch", "status": "Open"} for i in range(5))]
    for fields in ({}, {"filters": {"required": {"status": "open"}}}, {"confidence": 0.0}):
        intent = create_mock_intent_analysis(keywords=("HttpClient",), max_results=2, **fields)
        removed = select(issues, intent, PROFILES.of_tool("jira")).removed
        assert removed
        for verdict in removed:
            if verdict.reason == "filtered_out":
                assert verdict.threshold is None  # no score would have helped
            elif verdict.reason == "keyword_score_below_threshold":
                assert round(verdict.score, 4) < verdict.threshold
            else:
                assert verdict.score <= verdict.threshold


def test_what_a_judge_put_behind_is_told_by_its_score() -> None:
    items = ["security one security", "security two", "security three", *["lunch"] * 5]
    judge = scripted({"security two": 0.9, "security one security": 0.6, "security three": 0.7}, [])
    intent = create_mock_intent_analysis(keywords=("security",), max_results=2)
    removed = {verdict.place: verdict for verdict in select(items, intent, GENERIC, judge=judge).removed}
    assert (removed[0].reason, removed[0].score, removed[0].threshold) == ("exceeded_max_results", 0.6, 0.7)


def test_a_short_array_is_only_put_in_order() -> None:
    selection = select(["lunch", "security"], create_mock_intent_analysis(), GENERIC)
    assert (selection.kept, selection.removed) == ([1, 0], [])


def test_an_uncertain_intent_removes_nothing_for_its_score() -> None:
    items = ["security", *["lunch"] * 5]
    intent = create_mock_intent_analysis(max_results=3, confidence=0.1)
    assert len(select(items, intent, GENERIC).kept) == 3
    assert len(select(items, intent, GENERIC, confidence_threshold=0.05).kept) == 1


def test_an_array_that_answers_to_nothing_keeps_its_first_items() -> None:
    selection = select(["a", "b", "c"], create_mock_intent_analysis(max_results=2), GENERIC)
    assert selection.kept == [0, 1]


def test_a_required_filter_is_hard_and_says_so() -> None:
    issues = jira_issues(30)
    intent = create_mock_intent_analysis(keywords=("HttpClient",), filters={"required": {"status": "open"}})
    selection = select(issues, intent, PROFILES.of_tool("jira"))
    assert {issues[i]["status"] for i in selection.kept} == {"Open"}
    assert sum(verdict.reason == "filtered_out" for verdict in selection.removed) == 20


def scripted(scores: dict[str, float], asked: list[int]) -> Any:
    def judge(items: Sequence[Any], intent: Intent) -> list[float]:
        asked.append(len(items))
        return [scores.get(item, 0.0) for item in items]

    return judge


def test_a_judge_reorders_the_best_and_fills_the_places_left() -> None:
    items = ["security one", "security two", "breach at the vendor", *["lunch"] * 50]
    asked: list[int] = []
    judge = scripted({"security two": 0.9, "security one": 0.6, "breach at the vendor": 0.8}, asked)
    intent = create_mock_intent_analysis(keywords=("security",), max_results=3)
    selection = select(items, intent, GENERIC, judge=judge)
    assert selection.kept == [1, 0, 2]
    assert selection.strategy == "bm25+llm"
    rejected = [verdict for verdict in selection.removed if verdict.reason == "llm_relevance_low"]
    assert rejected
    assert all(verdict.score < verdict.threshold == LLM_THRESHOLD for verdict in rejected)


def test_a_judge_is_asked_in_batches_up_to_a_cap() -> None:
    asked: list[int] = []
    intent = create_mock_intent_analysis(keywords=("security",), max_results=3)
    select(["security", *["lunch"] * 1_000], intent, GENERIC, judge=scripted({}, asked))
    assert asked[0] == 1
    assert sum(asked[1:]) == MAX_JUDGED
    assert max(asked) <= 40


def test_a_judge_that_cannot_answer_changes_nothing() -> None:
    items = ["security", *["lunch"] * 9]
    intent = create_mock_intent_analysis(keywords=("security",), max_results=3)
    selection = select(items, intent, GENERIC, judge=lambda _items, _intent: None)
    assert selection.kept == select(items, intent, GENERIC).kept
