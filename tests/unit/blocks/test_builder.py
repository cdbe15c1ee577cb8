from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from satchel.api.wire.blocks import BuildRequest
from satchel.api.wire.built_blocks import BuildResponse
from satchel.blocks.building import build_session_blocks
from satchel.blocks.continuity import shipped_model
from satchel.blocks.window import WINDOW
from satchel.errors import InvalidInputError

START = datetime(2025, 1, 1, 9, tzinfo=UTC)
SORTING = "How does quicksort work?", "Quicksort picks a pivot, splits the array around it and sorts each part."
DINNER = "What should I cook for dinner tonight?", "You could make pasta with tomato sauce."
FOOTBALL = "Who won the football match yesterday?", "The home team won two to one."
SORTING_KO = "퀵소트 정렬 알고리즘 설명해줘", "퀵소트는 피벗을 기준으로 배열을 나누고 각 부분을 재귀적으로 정렬합니다."
DINNER_KO = "오늘 저녁 뭐 먹을까?", "된장찌개나 파스타는 어떠세요?"
FOOTBALL_KO = "어제 축구 경기 누가 이겼어?", "홈팀이 2대 1로 이겼습니다."
LINE = st.tuples(
    st.sampled_from(("user", "assistant")),
    st.sampled_from((*SORTING, *DINNER, *FOOTBALL, *SORTING_KO, *DINNER_KO, "ok thanks 😀", "네", "")),
    st.sampled_from((5, 60, 300, 700, 7200)),
)
LINES = st.lists(LINE, min_size=1, max_size=90)
LONGER_THAN_WINDOWS = st.lists(LINE, min_size=3 * WINDOW, max_size=4 * WINDOW)


def messages(lines, step_s=60):
    at, made = START, []
    for number, line in enumerate(lines):
        role, content, gap_s = (*line, step_s)[:3]
        at += timedelta(seconds=gap_s)
        made.append({"messageId": f"m{number:03}", "role": role, "content": content, "timestamp": at.isoformat()})
    return made


def turns(*pairs):
    return [(role, text) for pair in pairs for role, text in zip(("user", "assistant"), pair, strict=True)]


def request(sent, *, mode="FULL", existing=(), **options):
    return {
        "sessionId": "s",
        "analysisMode": mode,
        "messages": sent,
        "existingBlocks": list(existing),
        "options": options,
    }


def build(body):
    read = BuildRequest.model_validate(body)
    result = build_session_blocks(read.to_session(), read.options.to_options(), continuity=shipped_model())
    return BuildResponse.of(result).model_dump(mode="json")


@pytest.mark.parametrize("mode", ["hard", "soft"])
@pytest.mark.parametrize("text", ["why did the server die", "어제 서버가 왜 죽었어?"])
def test_the_same_text_a_minute_later_appends_ten_times_running(text, mode):
    assert len(build(request(messages([("user", text)] * 11), timeGapMode=mode))["blocks"]) == 1


@pytest.mark.parametrize("mode", ["hard", "soft"])
@pytest.mark.parametrize(
    "topics",
    [
        (SORTING, DINNER, FOOTBALL),
        (SORTING_KO, DINNER_KO, FOOTBALL_KO),
        (
            ("Explain sorting algorithms to me", "Bubble sort, quick sort and merge sort are common."),
            ("Suggest something for dinner", "How about kimchi stew or pasta?"),
            ("Tell me about last night's football game", "Korea won 2-1."),
        ),
        (
            ("정렬 알고리즘을 설명해줘", "버블 정렬, 퀵 정렬, 병합 정렬이 있습니다."),
            ("오늘 저녁 메뉴 추천해줘", "김치찌개나 된장찌개는 어떠세요?"),
            ("어제 축구 경기 결과 알려줘", "한국이 2대 1로 이겼습니다."),
        ),
        (
            ("퀵소트는 어떻게 동작하나요?", "피벗을 골라 배열을 나누고 양쪽을 재귀로 정렬합니다."),
            ("오늘 저녁에 뭐 먹을까?", "토마토 파스타가 간단하고 맛있어요."),
            ("어제 축구 경기 누가 이겼어?", "홈팀이 2대 1로 이겼습니다."),
        ),
    ],
)
def test_unrelated_questions_open_a_block_each(topics, mode):
    blocks = build(request(messages(turns(*topics)), timeGapMode=mode))["blocks"]
    assert [block["messageIds"] for block in blocks] == [["m000", "m001"], ["m002", "m003"], ["m004", "m005"]]


def test_a_longer_limit_has_an_effect_in_hard_mode():
    lines = [("user", "npm install fails with EACCES"), ("user", "npm install still fails with EACCES, why?")]
    sent = messages(lines, step_s=2400)
    assert len(build(request(sent))["blocks"]) == 2
    assert len(build(request(sent, timeGapMinutes=60))["blocks"]) == 1


@settings(max_examples=30)
@given(LINES)
def test_every_message_is_in_one_block_and_blocks_are_in_order(lines):
    result = build(request(messages(lines), timeGapMode="soft"))
    laid = [message_id for block in result["blocks"] for message_id in block["messageIds"]]
    assert laid == sorted(laid) == sorted(result["messageToBlock"])
    assert [block["blockId"] for block in result["blocks"]] == [f"blk_s_{n + 1}" for n in range(len(result["blocks"]))]
    assert result == build(request(list(reversed(messages(lines))), timeGapMode="soft"))


@settings(max_examples=30)
@given(LINES, st.integers(1, 89), st.sampled_from(("hard", "soft")))
def test_the_whole_equals_its_parts_with_the_stated_window(lines, cut, mode):
    sent = messages(lines)
    cut = min(cut, len(sent))
    first = build(request(sent[:cut], timeGapMode=mode))
    whole = build(request(sent, timeGapMode=mode))
    if cut == len(sent):
        return
    existing = [{"blockId": block["blockId"], "messageIds": block["messageIds"]} for block in first["blocks"]]
    part = build(request(sent[max(0, cut - WINDOW) :], mode="INCREMENTAL", existing=existing, timeGapMode=mode))
    assert part["messageToBlock"] == whole["messageToBlock"]
    assert [b["messageIds"] for b in part["blocks"]] == [b["messageIds"] for b in whole["blocks"]]


@settings(max_examples=20)
@given(
    LONGER_THAN_WINDOWS,
    st.lists(st.integers(1, 40), min_size=4 * WINDOW, max_size=4 * WINDOW),
    st.sampled_from(("hard", "soft")),
)
def test_however_a_session_is_divided_into_batches_its_blocks_are_the_same(lines, sizes, mode):
    sent, known, start = messages(lines), [], 0
    for size in sizes:
        batch = sent[max(0, start - WINDOW) : start + size]
        part = build(request(batch, mode="INCREMENTAL", existing=known, timeGapMode=mode))
        known = [{"blockId": block["blockId"], "messageIds": block["messageIds"]} for block in part["blocks"]]
        start += size
        if start >= len(sent):
            break
    whole = build(request(sent, timeGapMode=mode))
    assert part["messageToBlock"] == whole["messageToBlock"]
    assert known == [{"blockId": b["blockId"], "messageIds": b["messageIds"]} for b in whole["blocks"]]


def test_new_ids_step_over_those_that_are_taken():
    existing = [{"blockId": "blk_s_1", "messageIds": ["other"]}]
    for mode in ("FULL", "INCREMENTAL"):
        blocks = build(request(messages(turns(SORTING)), mode=mode, existing=existing))["blocks"]
        assert blocks[-1]["blockId"] == "blk_s_2"


def test_an_untouched_block_comes_back_as_it_was_given():
    tags = {"CONTEXT": "", "PROBLEM": "p", "TRIAL": ["t"], "SOLUTION": "s", "INSIGHT": ""}
    existing = [{"blockId": "b", "messageIds": ["x", "y"], "tags": tags}]
    result = build(request(messages(turns(DINNER)), mode="INCREMENTAL", existing=existing))
    untouched = result["blocks"][0]
    assert (untouched["tags"], untouched["code_snippets"], untouched["confidence"]) == (tags, [], None)
    assert result["messageToBlock"]["x"] == "b"
    assert result["stats"]["numMessages"] == 2


def test_a_last_message_stands_in_for_what_was_not_sent():
    last = {"messageId": "x", "role": "user", "content": "why did the server die", "timestamp": START.isoformat()}
    existing = [{"blockId": "b", "messageIds": ["w", "x"], "lastMessage": last}]
    sent = messages([("user", "why did the server die")])
    result = build(request(sent, mode="INCREMENTAL", existing=existing))
    assert result["blocks"][0]["messageIds"] == ["w", "x", "m000"]
    without = build(request(sent, mode="INCREMENTAL", existing=[{"blockId": "b", "messageIds": ["w", "x"]}]))
    assert without["messageToBlock"]["m000"] == "blk_s_1"


def test_texts_are_normalised():
    sent = messages([("user", "  a\x00b \ud800 ")])
    sent[0]["messageId"] = 7
    assert BuildRequest.model_validate(request(sent)).to_session().messages[0][:3] == ("7", "user", "ab \ufffd")


@pytest.mark.parametrize(
    ("existing", "field"),
    [
        (
            [{"blockId": "a", "messageIds": ["x"]}, {"blockId": "b", "messageIds": ["y", "x"]}],
            "existingBlocks[1].messageIds[1]",
        ),
        ([{"blockId": "a", "messageIds": []}, {"blockId": "a", "messageIds": []}], "existingBlocks[1].blockId"),
    ],
)
def test_blocks_that_overlap_are_named(existing, field):
    with pytest.raises(InvalidInputError) as caught:
        build(request(messages(turns(DINNER)), existing=existing))
    assert caught.value.field == field


def test_an_id_that_stands_twice_is_named():
    sent = messages(turns(DINNER))
    sent[1]["messageId"] = sent[0]["messageId"]
    with pytest.raises(InvalidInputError) as caught:
        build(request(sent))
    assert caught.value.field == "messages[1].messageId"


@pytest.mark.parametrize(
    "options",
    [
        {"timeGapMinutes": 0}, {"timeGapMinutes": -1}, {"timeGapMinutes": "10"}, {"timeGapMinutes": float("nan")},
        {"shiftLowSim": 1.1}, {"shiftLowSim": 0.5, "shiftHighSim": 0.4}, {"maxLastMessagesForContext": 0},
        {"maxLastMessagesForContext": 2.5}, {"timeGapMode": "firm"}, {"maxLlmCalls": -1}, {"shiftLowSim": True},
    ],
)  # fmt: skip
def test_options_out_of_range_are_refused(options):
    with pytest.raises(ValueError):
        BuildRequest.model_validate(request(messages(turns(DINNER)), **options))


@pytest.mark.parametrize("stamp", ["", "yesterday", 1735689600, "1735689600", None])
def test_only_iso_time_stamps_are_read(stamp):
    sent = messages(turns(DINNER))
    sent[0]["timestamp"] = stamp
    with pytest.raises(ValueError):
        BuildRequest.model_validate(request(sent))


def test_the_literal_cosine_appends_what_shares_words_and_cuts_what_does_not():
    lines = [("user", "sort the list of numbers"), ("user", "the list of numbers to sort"), ("user", "dinner recipes")]
    blocks = build(request(messages(lines), similarity="cosine"))["blocks"]
    assert [block["messageIds"] for block in blocks] == [["m000", "m001"], ["m002"]]
