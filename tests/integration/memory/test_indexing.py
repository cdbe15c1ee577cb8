from dataclasses import replace

import pytest

from satchel.embeddings.hashing import HashingEncoder
from satchel.errors import UnavailableError
from satchel.memory.indexing import index_message, reindex


class AwayEncoder(HashingEncoder):
    """A model that does not answer."""

    def encode(self, texts, *, input_type):
        raise UnavailableError("the model is away")


class DyingEncoder(HashingEncoder):
    """A process that is killed while it encodes."""

    def encode(self, texts, *, input_type):
        raise KeyboardInterrupt


class RenamedEncoder(HashingEncoder):
    name = "another"


def always():
    return True


def test_a_message_saved_while_the_model_is_away_is_found_by_its_words_and_embedded_later(history):
    healthy, history.encoder = history.encoder, AwayEncoder()
    message = history.say("the garden gate")
    history.encoder = healthy
    assert [hit.similarity for hit in history.search("gate").hits] == [0.0]
    assert history.index.unindexed_messages(encoder=healthy.name, limit=5) == [message]
    assert reindex(store=history.index, encoder=healthy, has_time=always) == (1, True)
    assert history.search("gate").hits[0].similarity > 0.3
    assert reindex(store=history.index, encoder=healthy, has_time=always) == (0, True)


def test_a_message_too_long_for_the_time_left_is_found_by_its_words_and_embedded_later(history):
    ticks = iter([True] * 3 + [False] * 100)
    healthy = history.encoder
    message = history.say("short")
    long = replace(message, content="the garden gate is green. " * 400)
    assert not index_message(long, store=history.index, encoder=healthy, has_time=lambda: next(ticks))
    assert [hit.similarity for hit in history.search("gate").hits] == [0.0]
    assert history.index.unindexed_messages(encoder=healthy.name, limit=5) == [message]
    assert reindex(store=history.index, encoder=healthy, has_time=always) == (1, True)


def test_a_kill_while_encoding_loses_nothing(history):
    healthy, history.encoder = history.encoder, DyingEncoder()
    with pytest.raises(KeyboardInterrupt):
        history.say("the garden gate")
    history.encoder = healthy
    assert reindex(store=history.index, encoder=healthy, has_time=always) == (1, True)
    assert history.found("garden") == ["the garden gate"]


def test_indexing_twice_leaves_one_entry(history):
    message = history.say("the garden gate")
    before = history.search("garden")
    assert index_message(message, store=history.index, encoder=history.encoder)
    assert history.search("garden") == before


def test_vectors_of_two_encoders_never_meet(history):
    history.say("the garden gate")
    history.encoder = RenamedEncoder()
    assert [hit.similarity for hit in history.search("gate").hits] == [0.0]
    assert reindex(store=history.index, encoder=history.encoder, has_time=always) == (1, True)
    assert history.search("gate").hits[0].similarity > 0.3


def test_reindexing_stops_between_two_messages_when_time_is_over(history):
    ticks = iter([True] * 3 + [False])
    history.encoder = AwayEncoder()
    for number in range(5):
        history.say(f"remark {number}")
    assert reindex(store=history.index, encoder=HashingEncoder(), has_time=lambda: next(ticks)) == (3, False)
    assert len(history.index.unindexed_messages(encoder="hashing", limit=10)) == 2


def test_no_row_of_the_index_is_seen_by_another_user(history, other_history):
    history.say("the garden gate")
    assert other_history.search("gate").hits == ()
    assert other_history.index.unindexed_messages(encoder="hashing", limit=5) == []


def test_steps_of_the_work_on_an_answer_are_no_hits_and_stand_between_no_two_messages(history):
    question = history.say("which garden gate did I paint?")
    history.say("[calls search_garden]", role="assistant", step=True)
    history.say("[search_garden answered]", role="tool", step=True)
    answer = history.say("You painted the green garden gate.", role="assistant")
    assert set(history.found("garden")) == {question.content, answer.content}
    assert history.found("*") == [answer.content, question.content]
    (hit,) = history.search("green gate", neighbours=1, role="assistant").hits
    assert hit.neighbours == (question,)
    assert reindex(store=history.index, encoder=history.encoder, has_time=always) == (0, True)


def test_the_tool_messages_of_others_are_found(history):
    history.say("the garden gate is green", role="tool")
    assert history.found("gate") == ["the garden gate is green"]
