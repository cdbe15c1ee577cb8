from hypothesis import given
from hypothesis import strategies as st

from satchel.agent.exchange import MAX_BLOCKS_BYTES, assistant_record, clean_blocks, cut, json_bytes


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


def test_an_input_too_large_for_the_store_is_named_and_not_kept():
    call = {"type": "tool_use", "id": "t", "name": "write_strategy", "input": {"code": "x" * MAX_BLOCKS_BYTES}}
    record = assistant_record("m", 1, [call], final=False, usage={})
    assert record.content == "[calls write_strategy]"
    assert json_bytes(dict(record.metadata)) < MAX_BLOCKS_BYTES
    assert record.blocks[0]["input"]["omitted"].endswith("bytes")
