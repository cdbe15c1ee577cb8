from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from satchel.blocks import streaming
from satchel.blocks.building import build_session_blocks
from satchel.blocks.continuity import shipped_model
from satchel.blocks.sessions import Message, Options, Session
from satchel.blocks.streaming import StreamedBuild

START = datetime(2025, 1, 1, 9, tzinfo=UTC)
TEXTS = (
    "How does quicksort work?", "it picks a pivot", "ok thanks 😀", "오늘 저녁 뭐 먹을까?", "된장찌개 어때요?", "네",
    "npm install fails with EACCES", "I tried sudo, still the same", "```py\nprint(1)\n```", "",
)  # fmt: skip
LINES = st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from((5, 60, 300, 700, 7200))), min_size=1, max_size=60)


def messages(lines):
    at, made = START, []
    for number, (text, gap_s) in enumerate(lines):
        at += timedelta(seconds=gap_s)
        made.append(Message(f"m{number:03}", ("user", "assistant")[number % 2], text, at))
    return made


@settings(max_examples=40)
@given(LINES, st.integers(1, 20), st.sampled_from(("hard", "soft")), st.sampled_from(("continuity", "cosine")))
def test_in_pieces_of_any_size_the_blocks_are_those_of_the_batch(lines, piece, mode, similarity):
    sent = messages(lines)
    options = Options(gap_mode=mode, similarity=similarity)
    whole = build_session_blocks(Session("s", "FULL", sent), options, continuity=shipped_model())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "_PIECE", piece)
        build = StreamedBuild("s", options, continuity=shipped_model())
        assert list(build.blocks(iter(sent))) == list(whole.blocks)
    assert build.messages == len(sent)


def test_no_more_is_read_than_a_piece_beyond_the_blocks_that_came_out(monkeypatch):
    monkeypatch.setattr(streaming, "_PIECE", 10)
    read = 0

    def endless():
        nonlocal read
        while True:
            read += 1
            yield Message(f"m{read}", "user", TEXTS[read % len(TEXTS)], START + timedelta(hours=read))

    blocks = StreamedBuild("s", Options(), continuity=shipped_model()).blocks(endless())
    for wanted in range(1, 200):
        next(blocks)
        assert read <= wanted + 10 + 1


def test_reserved_ids_are_stepped_over():
    build = StreamedBuild("s", Options(), continuity=shipped_model(), reserved={"blk_s_1", "blk_s_3"})
    sent = messages([("How does quicksort work?", 5), ("npm install fails with EACCES", 7200)])
    assert [block.block_id for block in build.blocks(sent)] == ["blk_s_2", "blk_s_4"]
