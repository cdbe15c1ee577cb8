from hypothesis import given
from hypothesis import strategies as st

from satchel.agent.telegram_text import parts, render, units

WORDS = st.sampled_from(
    ["hello ", "안녕 ", "😀", "**bold 굵게**", "`code`", "```py\nx = 1\n```", "\n", "\n\n", "a" * 30]
)


def inside(part, entity):
    encoded = part.text.encode("utf-16-le")
    return encoded[2 * entity["offset"] : 2 * (entity["offset"] + entity["length"])].decode("utf-16-le")


def test_markdown_becomes_entities_counted_in_utf_16():
    (part,) = parts("😀 **굵게** and `x` and [docs](https://example.org/a)")
    assert part.text == "😀 굵게 and x and docs"
    assert [(e["type"], inside(part, e)) for e in part.entities] == [
        ("bold", "굵게"), ("code", "x"), ("text_link", "docs"),
    ]  # fmt: skip
    assert part.entities[0]["offset"] == 3
    assert part.entities[2]["url"] == "https://example.org/a"


def test_what_is_not_markup_stays_as_it_was_written():
    text = "2 ** 3 * 4 _snake_case_ [x] ``` open"
    assert render(text) == (text, [])


def test_a_part_ends_between_paragraphs_before_lines_before_words():
    text = "one two\nthree\n\nfour five six"
    assert [part.text for part in parts(text, max_units=20)] == ["one two\nthree\n\n", "four five six"]
    assert [part.text for part in parts("aaaa bbbb cccc", max_units=10)] == ["aaaa bbbb ", "cccc"]


def test_an_entity_is_not_broken_where_it_fits_and_goes_on_where_it_does_not():
    first, second = parts("aaa **bbb ccc** ddd", max_units=9)[:2]
    assert first.text == "aaa "
    assert (second.text, inside(second, second.entities[0])) == ("bbb ccc ", "bbb ccc")
    long = parts("`" + "x" * 25 + "`", max_units=10)
    assert [len(part.text) for part in long] == [10, 10, 5]
    assert all(inside(part, part.entities[0]) == part.text for part in long)


def test_a_message_has_no_more_entities_than_telegram_shows():
    found = parts("**a** " * 250)
    assert [len(part.entities) for part in found] == [100, 100, 50]
    assert "".join(part.text for part in found) == "a " * 250
    assert [len(part.entities) for part in parts("`x`" * 101)] == [100, 1]


@given(st.lists(WORDS, max_size=60).map("".join), st.integers(2, 60))
def test_parts_fit_and_lose_nothing_but_blank_space(text, limit):
    found = parts(text, max_units=limit)
    assert all(units(part.text) <= limit for part in found)
    assert all(units(part.text) * 2 == len(part.text.encode("utf-16-le")) for part in found)
    assert "".join("".join(part.text for part in found).split()) == "".join(render(text)[0].split())
    for part in found:
        for entity in part.entities:
            assert inside(part, entity)
