import pytest

from satchel.filtering.o200k.counting import SAMPLED_CHARS, count_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("hello world", 2),
        ("안녕하세요 세계", 3),
        ("🙂" * 10, 10),
        # Counted by js-tiktoken 1.0.21.
        ("안녕하세요 세계. Été à Nîmes! getFileStatus() -> HTTPServer 123456 it's\n\n  x = y;\t// ok 🙂🙂", 33),
    ],
)
def test_tokens_are_those_of_the_vocabulary(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


def test_a_long_text_is_counted_by_its_beginning_and_scaled() -> None:
    text = "hello world. " * (SAMPLED_CHARS // 13)
    assert count_tokens(text * 6) == pytest.approx(6 * count_tokens(text), rel=0.01)


def test_hostile_text_is_counted_in_bounded_steps() -> None:
    assert count_tokens("x" * 100_000) > 1_000
    assert count_tokens("\ud800 x") > 1
