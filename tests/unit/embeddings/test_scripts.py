import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.embeddings.scripts import READ_CHARS, SCRIPTS, script_of, scripts_of

TEXTS = {
    "": "latin",
    "123, 👍!": "latin",
    "where is the gate?": "latin",
    "où est l'été": "latin",
    "정원 문은 어디": "hangul",
    "ㅋㅋㅋ ok": "hangul",
    "庭の門はどこ": "kana",
    "花园的门在哪里": "han",
    "где калитка": "cyrillic",
    "أين البوابة": "arabic",
    "गेट कहाँ है": "devanagari",
    "πού είναι": "other",
    # A syllable tells more than a letter.
    "AWS Lambda 함수를 고쳤다": "hangul",
    "the deployment failed, said 김": "latin",
    "half \udc00 surrogate é": "latin",
}


@pytest.mark.parametrize(("text", "script"), TEXTS.items())
def test_a_text_is_of_the_script_that_most_of_it_is_written_in(text, script):
    assert SCRIPTS[script_of(text)] == script


def test_the_beginning_of_a_text_tells_its_script():
    assert script_of("gate é " * READ_CHARS + "정원" * READ_CHARS * 9) == SCRIPTS.index("latin")


@given(st.lists(st.one_of(st.sampled_from(sorted(TEXTS)), st.text(max_size=9)), max_size=9))
def test_a_text_is_of_the_same_script_among_others(texts):
    assert scripts_of(texts) == [script_of(text) for text in texts]
