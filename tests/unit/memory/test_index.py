from datetime import UTC, datetime

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from satchel.embeddings.encoder import Encoding
from satchel.embeddings.hashing import HashingEncoder
from satchel.memory.index import encode_whole, index_entry, indexed_terms, passages_of, split_passages
from satchel.memory.messages import Message


def message(content, *, role="user", **metadata):
    return Message("s1", "m1", 1, role, content, metadata, datetime(2026, 3, 1, tzinfo=UTC), True)


@given(st.text(alphabet=st.sampled_from("ab .!\n한。"), max_size=400), st.integers(2, 50))
def test_passages_hold_the_whole_text_and_none_is_too_long(text, longest):
    passages = split_passages(text, longest)
    assert "".join(passages) == text
    assert all(len(passage) <= longest for passage in passages)


def test_a_passage_ends_where_a_sentence_does():
    assert split_passages("One is here. Two is here. Three", 20) == ["One is here. ", "Two is here. Three"]


def test_a_speaker_stands_in_front_of_every_passage():
    assert passages_of(message("x" * 30, speaker="Ann"), longest=20) == ["Ann: " + "x" * 20, "Ann: " + "x" * 10]
    assert passages_of(message("hello", speaker=7)) == ["hello"]
    assert passages_of(message("hello", speaker="김" * 5_000)) == ["김" * 100 + ": hello"]


def test_an_entry_holds_terms_and_a_vector_for_each_passage():
    entry = index_entry(message("this is the green garden"), HashingEncoder())
    assert entry.terms == {"green": 1, "garden": 1}
    assert entry.encoder == "hashing"
    (passage,) = entry.passages
    assert passage.tokens is not None
    assert passage.tokens.shape == (5, 384)


class ShortSightedEncoder(HashingEncoder):
    """Reads ten characters of a text."""

    def encode(self, texts, *, input_type):
        return [Encoding(np.ones(8, np.float32), None, (), min(10, len(text))) for text in texts]


def test_what_one_reading_leaves_over_is_read_in_another():
    assert [encoding.chars_read for encoding in encode_whole(["a" * 25, ""], ShortSightedEncoder())] == [10, 10, 5, 0]


def test_what_an_assistant_quotes_is_left_to_who_said_it():
    answer = "You said:\n> My cat hates oranges. 고양이 🐈\n> So do I.\nShall I note that?"
    assert passages_of(message(answer, role="assistant")) == ["You said:\nShall I note that?"]
    assert "cat" not in indexed_terms(message(answer, role="assistant"))
    assert passages_of(message(answer)) == [answer]
    assert "cat" in indexed_terms(message(answer))


def test_an_answer_that_only_quotes_and_the_prompt_of_a_shell_are_kept():
    for answer in ("> nothing but this", ">>> print(1)"):
        assert passages_of(message(answer, role="assistant")) == [answer]
