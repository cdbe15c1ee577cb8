import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.memory.excerpt import excerpt

FAMILY = "👨‍👩‍👧"
THUMB = "👍🏽"
FLAG = "🇰🇷"


def test_a_short_text_is_kept_on_one_line():
    assert excerpt("two\n  lines\tand 한국어", 100) == "two lines and 한국어"


@pytest.mark.parametrize("character", [FAMILY, THUMB, FLAG, "e\u0301", "❤\ufe0f", "नि"])
def test_a_cut_never_falls_inside_a_character(character):
    text = "x" + character * 3
    for length in range(1, len(text)):
        cut = excerpt(text, length)
        assert cut.endswith("…")
        assert cut[1:-1] == character * (cut[1:-1].count(character))


def test_flags_side_by_side_are_cut_between_flags():
    assert excerpt(FLAG * 4, 5) == FLAG * 2 + "…"


@given(st.text(), st.integers(1, 50))
def test_an_excerpt_is_one_line_within_its_length(text, length):
    cut = excerpt(text, length)
    assert len(cut.removesuffix("…")) <= length
    assert len(cut.splitlines()) <= 1
    assert not (cut and unicodedata.category(cut[0]) == "Zs")
