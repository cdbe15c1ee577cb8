import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from satchel.api.wire.any_json import AnyJson

TEXTS = st.text(max_size=4) | st.sampled_from(("\ud800", "\ufffd", "a\udfff", "😀"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


class Answer(BaseModel):
    value: AnyJson


def sent(value: Any) -> Any:
    return json.loads(json.dumps(Answer(value=value).model_dump(mode="json")))["value"]


def shape(value: Any) -> Any:
    """The value without the names of its keys, which still have their order and number."""
    if isinstance(value, dict):
        return [("key", shape(inner)) for inner in value.values()]
    return [shape(inner) for inner in value] if isinstance(value, list) else value


@given(VALUES)
def test_any_json_goes_out_and_keeps_its_values(value):
    assert shape(sent(value)) == shape(value)
    if not any(0xD800 <= ord(character) <= 0xDFFF for character in json.dumps(value, ensure_ascii=False)):
        assert sent(value) == value


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"\ud800": 1}, {"\ufffd": 1}),
        (dict(zip("\ud800\udfff\ufffd", (1, 2, 3), strict=True)), {"\ufffd#2": 1, "\ufffd#3": 2, "\ufffd": 3}),
        ([{"a": [{"열쇠\ud800": "\ud800"}]}], [{"a": [{"열쇠\ufffd": "\ud800"}]}]),
    ],
)
def test_a_key_that_cannot_be_written_is_replaced_and_stays_distinct(value, told):
    assert sent(value) == told
