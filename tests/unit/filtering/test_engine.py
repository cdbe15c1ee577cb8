import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.filtering.engine import FAILED_NOTICE, FilteredResponse
from satchel.filtering.object_filter import FieldLimits
from satchel.filtering.payload import FilterOptions
from satchel.filtering.token_estimate import by_counting
from tests.support.filtering import (
    WordSanitiser,
    create_mock_intent_analysis,
    create_test_filter_engine,
    database_rows,
    slack_messages,
)


def filtered(
    response: Any, *, engine: Any = None, explain: str = "brief", options: Any = None, **intent: Any
) -> FilteredResponse:
    return (engine or create_test_filter_engine()).filter_response(
        response,
        create_mock_intent_analysis(**intent),
        tool_name="slack_search_messages",
        options=options,
        explain=explain,
    )


def test_an_array_comes_back_short_with_an_account_of_the_rest() -> None:
    result = filtered(slack_messages(1_000))
    assert result.reduction == 0.98
    assert (result.total, result.kept) == (1_000, 20)
    assert sum(result.removed_by_reason.values()) == 980
    assert result.removed_by_reason["keyword_score_below_threshold"] > 0
    assert result.bytes_after < 0.05 * result.bytes_before
    assert result.tokens["encoding"] == "estimate: bytes / 4"
    assert len(result.removed) == 980
    assert [item["reason"] for item in result.removed_items] == ["exceeded_max_results"] * 3
    assert all(item["score"] <= item["threshold"] for item in result.removed_items)


def test_everything_that_was_removed_is_told_when_asked() -> None:
    result = filtered(slack_messages(100), explain="full")
    assert len(result.removed_items) == 100 - result.kept


@pytest.mark.parametrize("value", [5, 1.5, True, None, "short", "", [], {}, {"ok": True}])
def test_what_is_small_passes_unchanged(value: Any) -> None:
    result = filtered(value)
    assert result.data == value
    assert result.reduction == 0


def test_the_envelope_of_an_array_survives() -> None:
    answer = {
        "ok": True,
        "total": 1_000,
        "status": "partial",
        "error": None,
        "is_partial": True,
        "paging": {"next_cursor": "abc"},
        "data": {"messages": slack_messages(300)},
        "attribution": "Slack",
    }
    result = filtered(answer)
    assert {key: value for key, value in result.data.items() if key != "data"} == {
        key: value for key, value in answer.items() if key != "data"
    }
    assert result.kept == len(result.data["data"]["messages"]) < 300
    assert result.total == 300
    assert result.strategy.startswith("envelope:bm25")
    assert result.removed_items[0]["path"].startswith("data.messages[")


def test_arrays_inside_kept_items_are_filtered_too() -> None:
    issue = {"id": 1, "title": "security", "comments": [{"text": f"comment {i}"} for i in range(50)]}
    issue["comments"][40]["text"] = "security fix ready"
    result = filtered([issue, {"id": 2, "title": "x"}], max_results=3)
    assert [c["text"] for c in result.data[0]["comments"]] == ["security fix ready"]
    assert (result.total, result.kept, result.removed_by_reason) == (2, 2, {})
    assert len(result.removed) == 49


def test_objects_lose_fields_and_count_bytes() -> None:
    value = {"security_level": "high", **{f"f{i}": "x" * 20 for i in range(60)}}
    result = filtered(value)
    assert result.data == {"security_level": "high"}
    assert result.reduction > 0.9
    assert result.removed_items[0]["path"] == "f0"


def test_long_text_is_summarised_and_counts_characters() -> None:
    text = "\n\n".join(f"Paragraph {i} is about nothing." for i in range(400)) + "\n\nThe security patch is due."
    result = filtered(text)
    assert "The security patch is due." in result.data
    assert result.reduction == pytest.approx(1 - len(result.data) / len(text))
    assert result.total - result.kept == sum(result.removed_by_reason.values())


def test_long_text_inside_an_object_is_summarised_too() -> None:
    body = "\n\n".join(f"Paragraph {i} about security." for i in range(400))
    result = filtered({"body": body, "messages": list(range(30))})
    assert len(result.data["body"]) < len(body)
    result = filtered({"security": {"body": body}})
    assert len(result.data["security"]["body"]) < len(body)


def test_json_inside_text_is_filtered_as_json() -> None:
    result = filtered(json.dumps(slack_messages(100)))
    assert len(json.loads(result.data)) == result.kept < 100
    broken = "[" + "x" * 6_000
    assert len(filtered(broken).data) < 6_000


def test_uniform_rows_come_back_as_a_table_when_asked() -> None:
    rows = database_rows(100)
    result = filtered(rows, options=FilterOptions(table=True), keywords=("Norway",), max_results=5)
    assert result.data["columns"] == ["id", "customer", "country", "amount", "paid"]
    assert all(row[2] == "Norway" for row in result.data["rows"])
    assert filtered([*rows, "odd"], options=FilterOptions(table=True), max_results=2).data != {}


def test_limits_of_the_caller_hold() -> None:
    options = FilterOptions(limits=FieldLimits(preserve=frozenset({"b"}), max_fields=1, forced=True))
    assert filtered({"security": 1, "b": 2, "security2": 3}, options=options).data == {"security": 1, "b": 2}


def test_the_sanitiser_sees_answer_and_account_before_anything_is_cut() -> None:
    engine = create_test_filter_engine(sanitiser=WordSanitiser("SECRETWORD"))
    messages = slack_messages(60)
    for message in messages:
        message["text"] += " " + "x" * 110 + " SECRETWORD"
    result = filtered(messages, engine=engine, max_results=2)
    assert "SECRET" not in json.dumps([result.data, result.removed_items])
    text = "\n\n".join("security " + "y" * 580 + " SECRETWORD " + "z" * 300 for _ in range(30))
    assert "SECRET" not in json.dumps(filtered(text, engine=engine).data)


def test_a_filter_that_fails_passes_the_sanitised_answer_with_a_notice() -> None:
    def judge(items: Any, intent: Any) -> Any:
        raise RuntimeError("boom")

    engine = create_test_filter_engine(judge=judge, sanitiser=WordSanitiser("security"))
    result = filtered(["security"] * 30, engine=engine)
    assert result.notice == FAILED_NOTICE
    assert result.data == ["[REDACTED]"] * 30
    assert result.reduction == 0


def test_a_sanitiser_that_fails_passes_nothing() -> None:
    class Broken:
        def sanitise(self, value: Any, *, tool_name: str) -> Any:
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError):
        filtered(["a"], engine=create_test_filter_engine(sanitiser=Broken()))


def test_a_written_summary_is_used_where_it_is_shorter() -> None:
    engine = create_test_filter_engine(summariser=lambda _text, _intent: "In short: nothing.")
    result = filtered("word " * 2_000, engine=engine)
    assert result.data == "In short: nothing."
    assert result.strategy == "text:document+llm"
    long = create_test_filter_engine(summariser=lambda text, _intent: text + "!")
    assert filtered("word " * 2_000, engine=long).data == "word " * 2_000


def test_tokens_may_be_counted_by_a_vocabulary() -> None:
    engine = create_test_filter_engine(count_tokens=by_counting(lambda text: len(text.split()), "words"))
    assert filtered("a b c", engine=engine).tokens == {"before": 3, "after": 3, "encoding": "estimate: words"}
    assert filtered(["a b"], engine=engine).tokens["before"] == 2


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8), st.just("security")),
    lambda inner: st.lists(inner, max_size=25) | st.dictionaries(st.text(max_size=4), inner, max_size=6),
    max_leaves=60,
)


@given(json_values, st.integers(1, 5))
def test_the_account_adds_up_for_any_answer(response: Any, wanted: int) -> None:
    result = filtered(response, max_results=wanted)
    assert result.notice is None
    assert result.kept + sum(result.removed_by_reason.values()) == result.total
    assert 0 <= result.reduction <= 1
    json.dumps(result.data)


def test_deep_and_wide_answers_are_filtered_in_bounded_time() -> None:
    deep: Any = "security"
    for _ in range(200):
        deep = {"a": deep}
    assert filtered(deep).notice is None
    assert filtered([deep]).notice is None
    wide = {f"k{i}": i for i in range(100_000)}
    assert len(filtered(wide, options=FilterOptions(limits=FieldLimits(max_fields=5))).data) == 5
    assert filtered(["\ud800 security"] * 30).kept == 20
