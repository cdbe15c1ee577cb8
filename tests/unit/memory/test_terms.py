import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.memory.terms import MAX_QUERY_TERMS, MAX_TERM_CHARS, fold, normalize, passage_terms, query_terms


def finds(query: str, passage: str) -> bool:
    """Whether every word of the query is among the passage's terms."""
    terms = set(passage_terms(passage))
    words = query_terms(normalize(query))
    return bool(words) and all(
        word.variants & terms or (word.prefix and any(term.startswith(word.prefix) for term in terms)) for word in words
    )


@pytest.mark.parametrize(
    ("query", "passage"),
    [
        ("running", "I ran, she runs, they were running"),
        ("transfer", "the transfers are done"),
        ("Überweisung", "Die Überweisungen wurden storniert"),
        ("STRASSE", "in der Straße"),
        ("ete", "l'été dernier"),
        ("étés", "un été"),
        ("canción", "escuchamos las canciones"),
        ("كتاب", "الكتاب على الطاولة"),
        ("κόσμος", "ΚΟΣΜΟΣ"),
        ("ёлка", "наши елки"),
        ("घर", "मैं घर जा रहा हूँ"),
        ("방", "방이 넓다"),
        ("판교", "판교에 있는 회사"),
        ("東京", "先週東京に行った"),
        ("ﾃﾞｰﾀ", "データを見る"),
        ("京", "先週東京に行った"),
        ("userName", "call userName()"),
        ("user_name", "user_name = x"),
        ("USDT", "BTC/USDT"),
        ("btc/usdt", "BTC-USDT"),
        ("4417", "code 4417-BLUE"),
        ("c++", "written in C++."),
        ("2.3.1", "since v2.3.1"),
        ("1,000", "about 1000 people"),
        ("ＡＢＣ", "abc"),
    ],
)
def test_a_word_is_found_in_another_form(query, passage):
    assert finds(query, passage)


@pytest.mark.parametrize(
    ("query", "passage"),
    [("C++", "plan C is better"), ("部署", "部分已署名"), ("car", "a cart"), ("1000", "10.00 and 100")],
)
def test_another_word_is_not_found(query, passage):
    assert not finds(query, passage)


def test_function_words_are_left_out_unless_there_is_nothing_else():
    assert [word.word for word in query_terms("what did I say about the garden")] == ["say", "garden"]
    assert [word.word for word in query_terms("to be or not to be")]
    assert set(passage_terms("this is the garden of my house")) == {"garden", "hous"}


def test_spans_point_at_the_words_of_the_query():
    text = "where is 판교 and getUserName"
    assert [(word.word, text[word.start : word.end]) for word in query_terms(text)] == [
        ("판교", "판교"),
        ("get", "get"),
        ("user", "User"),
        ("name", "Name"),
        ("getusername", "getUserName"),
    ]


@given(st.text())
def test_any_text_has_terms_of_bounded_length(text):
    assert all(0 < len(term) <= MAX_TERM_CHARS for term in passage_terms(text))


@pytest.mark.parametrize("word", ["a" * 260_000, "aB" * 130_000, "é" * 130_000, "1" * 260_000])
def test_a_word_longer_than_anybody_types_is_found_by_its_beginning(word):
    assert query_terms(normalize(word[:200]))[-1].variants <= passage_terms(word).keys()


@given(st.text())
def test_any_query_has_a_bounded_number_of_words_within_its_text(text):
    normal = normalize(text)
    words = query_terms(normal)
    assert len(words) <= MAX_QUERY_TERMS
    assert all(word.variants and 0 <= word.start < word.end <= len(normal) for word in words)


@given(st.text(max_size=40))
def test_folding_again_changes_nothing_more(text):
    once = fold(text)
    assert fold(once) == once


@given(
    st.sampled_from(["overweight", "게임을 했다", "部署方案", "BTC/USDT", "l'été", "Überweisungen", "C++"]),
    st.text(max_size=30),
)
def test_a_message_is_found_by_its_own_words(word, rest):
    assert finds(word, f"{rest}\n{word}\n")
