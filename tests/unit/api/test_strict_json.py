import json
from decimal import Decimal

import pytest

from satchel.api.json_text import compact_json
from satchel.api.strict_json import MAX_DEPTH, parse_json
from satchel.errors import InvalidInputError


def nested(depth: int, *, of: str) -> str:
    opening, closing = {"arrays": ("[", "]"), "objects": ('{"a":', "}")}[of]
    return opening * depth + "1" + closing * depth


@pytest.mark.parametrize("of", ["arrays", "objects"])
def test_values_may_be_nested_up_to_the_limit_and_no_deeper(of):
    assert json.dumps(parse_json(nested(MAX_DEPTH, of=of)), separators=(",", ":")) == nested(MAX_DEPTH, of=of)
    for depth in (MAX_DEPTH + 1, 700, 100_000):
        with pytest.raises(InvalidInputError, match="nested more than 256 deep"):
            parse_json(nested(depth, of=of).encode())


def test_many_values_side_by_side_and_brackets_in_texts_are_not_deep():
    value = {"rows": [{"id": [number]} for number in range(1_000)], "text": "[{" * 1_000}
    assert parse_json(json.dumps(value)) == value


def test_what_cannot_be_encoded_is_written_escaped_and_the_rest_as_it_is():
    assert compact_json({"말": ["😀"]}) == '{"말":["😀"]}'
    assert compact_json({"말": "\ud800"}).encode() == b'{"\\ub9d0":"\\ud800"}'


def test_an_exponent_that_no_decimal_has_is_refused():
    with pytest.raises(InvalidInputError, match="outside the range"):
        parse_json('{"size": 1e999999999999999999999}', parse_float=Decimal)
