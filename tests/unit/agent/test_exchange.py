from hypothesis import given
from hypothesis import strategies as st

from satchel.agent.exchange import (
    MAX_BLOCKS_BYTES,
    assistant_record,
    clean_blocks,
    cut,
    json_bytes,
    result_block,
    results_record,
    storable,
)


@given(st.text(st.characters(codec="utf-8"), max_size=400), st.integers(300, 2_000))
def test_a_cut_text_fits_and_begins_as_the_whole_one(text, limit):
    shown = cut(text * 20, limit)
    assert json_bytes(shown) <= limit
    assert (text * 20).startswith(shown.split("\n[cut here")[0])


def test_blocks_go_back_without_empty_text_and_without_fields_of_answers():
    blocks = [
        {"type": "text", "text": " \n"},
        {"type": "text", "text": "hi", "citations": None},
        {"type": "tool_use", "id": "t", "name": "n", "input": {}, "caller": {"type": "direct"}},
    ]
    assert clean_blocks(blocks) == [
        {"type": "text", "text": "hi"},
        {"type": "tool_use", "id": "t", "name": "n", "input": {}},
    ]


def test_what_is_too_large_for_the_store_is_kept_without_thinking_and_then_without_input():
    thought = {"type": "thinking", "thinking": "y" * 40_000, "signature": "s"}
    small = {"type": "tool_use", "id": "t", "name": "write_strategy", "input": {"code": "x" * 20_000}}
    record = assistant_record("m", 1, [thought, small], final=False, usage={"input_tokens": 1})
    assert record.blocks == [thought, small]
    kept = storable(record)
    assert kept.blocks == [small]
    assert (kept.content, kept.agent["usage"]) == ("[calls write_strategy]", {"input_tokens": 1})
    large = {**small, "input": {"code": "x" * MAX_BLOCKS_BYTES}}
    kept = storable(assistant_record("m", 1, [large], final=False, usage={}))
    assert json_bytes(dict(kept.metadata)) < MAX_BLOCKS_BYTES
    assert kept.blocks[0]["input"]["omitted"].endswith("bytes")
    assert kept.metadata["step"] is True


def test_what_is_only_a_note_of_the_work_is_marked_as_a_step():
    call = {"type": "tool_use", "id": "t", "name": "search_conversation", "input": {}}
    text = {"type": "text", "text": "Let me look. 찾아볼게요"}
    assert assistant_record("m", 1, [call], final=False, usage={}).metadata["step"] is True
    assert results_record("m", 2, [result_block("t", "{}")], ["search_conversation"]).metadata["step"] is True
    assert "step" not in assistant_record("m", 1, [text, call], final=False, usage={}).metadata
    assert "step" not in assistant_record("m", 3, [text], final=True, usage={}).metadata
