import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.errors import InvalidInputError, TooLargeError
from satchel.filtering import json_stream
from satchel.filtering.array_filter import select
from satchel.filtering.streaming import FilteredChunk, StreamingFilter
from satchel.filtering.tool_profiles import ToolProfile
from tests.support.filtering import create_mock_intent_analysis, slack_messages

GENERIC = ToolProfile("generic")


async def feed(parts: list[Any]) -> AsyncIterator[Any]:
    for part in parts:
        yield part


def run(chunks: list[list[Any]], intent: Any = None, **options: Any) -> tuple[list[FilteredChunk], StreamingFilter]:
    stream = StreamingFilter(intent or create_mock_intent_analysis(), GENERIC, **options)

    async def collect() -> list[FilteredChunk]:
        return [result async for result in stream.create_filter_stream(feed(chunks))]

    return asyncio.run(collect()), stream


def chunked(items: list[Any], size: int) -> list[list[Any]]:
    return [items[i : i + size] for i in range(0, len(items), size)]


def test_there_is_one_result_for_each_chunk_and_the_last_is_final() -> None:
    messages = slack_messages(1_000)
    results, _ = run(chunked(messages, 100))
    assert [result.chunk_index for result in results] == list(range(10))
    assert [result.is_complete for result in results] == [False] * 9 + [True]
    assert len(results[-1].chunk) == 20
    assert results[-1].running_reduction == 0.98
    assert all("security" in message["text"] for message in results[-1].chunk)


texts = st.lists(
    st.lists(st.sampled_from(["security", "patch", "lunch", "cat", "dog"]), max_size=6).map(" ".join), max_size=60
)


@given(texts, st.integers(1, 20))
def test_a_stream_keeps_nearly_what_the_whole_array_keeps(items: list[str], size: int) -> None:
    intent = create_mock_intent_analysis(keywords=("security", "patch"), intent="", max_results=5)
    results, _ = run(chunked(items, size), intent)
    kept = results[-1].chunk
    whole = [items[i] for i in select(items, intent, GENERIC).kept]
    with_keyword = [text for text in items if "security" in text or "patch" in text]
    assert sum("security" in t or "patch" in t for t in kept) == min(5, len(with_keyword))
    assert len(kept) == len(whole) or len(items) <= 5


def test_the_threshold_rises_and_the_heap_stays_small() -> None:
    stream = StreamingFilter(create_mock_intent_analysis(max_results=5), GENERIC)
    seen = []
    for chunk in chunked(slack_messages(5_000, relevant_every=3), 250):
        stream.process_chunk(chunk)
        seen.append(stream.state.threshold)
        assert len(stream.state.best) <= 20
    assert seen == sorted(seen)
    assert seen[-1] > seen[0]


def test_the_memory_budget_is_kept_and_reported() -> None:
    items = [{"text": f"security {i} " + "x" * 1_000} for i in range(500)]
    results, stream = run(chunked(items, 50), memory_budget_bytes=20_000)
    assert stream.state.budget_exceeded
    assert stream.state.memory_bytes <= 20_000
    assert 1 <= len(results[-1].chunk) < 20


@pytest.mark.parametrize("places", [2, 20])
def test_items_too_large_to_hold_are_missed_where_nothing_answers(places: int) -> None:
    items = [{"text": "lunch"}, {"text": "lunch " + "x" * 30_000}, {"text": "lunch again"}]
    results, stream = run([items], create_mock_intent_analysis(max_results=places), memory_budget_bytes=20_000)
    assert results[-1].chunk == items[:1]
    assert stream.state.budget_exceeded
    results, stream = run([items], create_mock_intent_analysis(max_results=places))
    assert results[-1].chunk == items[:places]
    assert not stream.state.budget_exceeded


def test_what_a_stream_cut_is_told_as_of_an_array() -> None:
    texts = ["lunch", "security cat", "insecurity", "the patch", "security", "dog", "security update now", "cat"]
    intent = create_mock_intent_analysis(keywords=("security",), intent="patch", max_results=2)
    results, stream = run(chunked(texts, 3), intent)
    removed = stream.removed()
    assert len(removed) == sum(stream.removed_by_reason(2).values()) == 6
    assert sorted([*results[-1].chunk, *(removal.item for removal in removed)]) == sorted(texts)
    assert all(texts[removal.path[0]] == removal.item for removal in removed)
    for removal in removed:
        assert removal.threshold < 10
        if removal.reason == "keyword_score_below_threshold":
            assert (removal.score, removal.item in {"lunch", "dog", "cat"}) == (0, True)
            assert removal.score < removal.threshold
        else:
            assert 0 < removal.score <= removal.threshold


def test_a_short_stream_is_only_put_in_order() -> None:
    results, stream = run([["lunch"], ["security"]])
    assert results[-1].chunk == ["security", "lunch"]
    assert (stream.removed(), stream.removed_by_reason(2)) == ([], {})


def test_items_that_no_word_reaches_give_way_to_those_that_answer() -> None:
    items = [{"text": "x" * 5_000 + str(i)} for i in range(4)] + [
        {"text": f"security {i} " + "y" * 200} for i in range(40)
    ]
    results, stream = run(chunked(items, 4), memory_budget_bytes=22_000)
    assert stream.state.unreached == []
    assert len(results[-1].chunk) == 20


def test_a_stream_without_items_or_without_an_answer_ends_well() -> None:
    results, _ = run([])
    assert results == [FilteredChunk([], 0, 0.0, is_complete=True)]
    results, _ = run([["a", "b"], ["c"]], create_mock_intent_analysis(keywords=("zebra",), intent="", max_results=2))
    assert results[-1].chunk == ["a", "b"]


def test_a_slow_reader_slows_the_source() -> None:
    taken: list[int] = []

    async def source() -> AsyncIterator[list[Any]]:
        for number in range(100):
            taken.append(number)
            yield [f"security {number}"]

    async def read_two() -> None:
        stream = StreamingFilter(create_mock_intent_analysis(), GENERIC).create_filter_stream(source())
        await anext(stream)
        await anext(stream)
        await stream.aclose()

    asyncio.run(read_two())
    assert len(taken) == 3


def parse(blocks: list[bytes], **options: Any) -> list[Any]:
    async def collect() -> list[Any]:
        return [item async for chunk in json_stream.items(feed(blocks), **options) for item in chunk]

    return asyncio.run(collect())


VALUES = [{"id": 1, "text": "보안 😀"}, [1.5, None], "line", 9_007_199_254_740_993]


@given(st.integers(1, 30))
def test_arrays_and_lines_are_read_however_the_bytes_are_cut(size: int) -> None:
    array = json.dumps(VALUES, ensure_ascii=False).encode()
    lines = b"\xef\xbb\xbf \n" + b"\n\n".join(json.dumps(value).encode() for value in VALUES) + b"\n"
    assert parse([array[i : i + size] for i in range(0, len(array), size)]) == VALUES
    if size > 3:  # a byte order mark in two blocks is not looked for
        assert parse([lines[i : i + size] for i in range(0, len(lines), size)]) == VALUES


def test_an_array_inside_an_object_is_read_by_its_path() -> None:
    answer = json.dumps({"total": 3, "data": {"messages": [1, 2, 3]}, "more": [9]}).encode()
    assert parse([answer], path="data.messages") == [1, 2, 3]


def test_chunks_hold_about_as_many_items_as_asked() -> None:
    async def sizes() -> list[int]:
        blocks = feed([json.dumps(list(range(25))).encode()])
        return [len(chunk) async for chunk in json_stream.items(blocks, chunk_items=10)]

    assert asyncio.run(sizes()) == [10, 10, 5]
    assert parse([b"", b"  "]) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'[{"a": 1}, {', "ends early"),
        (b"[1, oops]", "not a JSON array"),
        (b"[NaN]", "not a JSON array"),
        (b'{"a": 1}\n{"a": oops}\n', "line 2 is not JSON"),
        (b"1,2\n3\n", "line 1 is not JSON"),
        (b'{"a": NaN}\n', "line 1 is not JSON"),
        (b"[" * 300_000, "nested too deeply"),
        (b"\xff\xfe", "line 1 is not JSON"),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(text: bytes, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        parse([text])


def test_a_line_without_end_is_refused() -> None:
    with pytest.raises(TooLargeError, match="line 1"):
        parse([b'"' + b"x" * 9_000_000] * 2)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(json_values, max_size=8), st.integers(1, 40), st.sampled_from([None, 2]))
def test_an_array_cut_anywhere_is_read_as_the_whole(values: list[Any], size: int, indent: int | None) -> None:
    data = json.dumps(values, ensure_ascii=False, indent=indent).encode()
    assert list(parse([data[i : i + size] for i in range(0, len(data), size)])) == values


@pytest.mark.parametrize(
    "text", ["[1 2]", "[1,]", "[,1]", "[1]]", "[1}", "[NaN]", "[1, Infinity]", "[tru", "[1] 2", "[" * 5_000]
)
def test_what_is_no_array_is_refused_wherever_it_is_cut(text: str) -> None:
    for size in (1, 3, 10_000):
        with pytest.raises(InvalidInputError):
            parse([text.encode()[i : i + size] for i in range(0, len(text), size)])


def test_an_item_that_never_ends_is_refused() -> None:
    with pytest.raises(TooLargeError):
        parse([b'["'] + [b"x" * 1_000_000] * 40)
