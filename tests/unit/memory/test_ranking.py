from dataclasses import astuple, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.embeddings.encoder import Encoding
from satchel.embeddings.hashing import HashingEncoder
from satchel.memory.candidates import Candidate, Candidates
from satchel.memory.features import read_features
from satchel.memory.intent import read_intent
from satchel.memory.late_interaction import best_cosines
from satchel.memory.messages import Message
from satchel.memory.ranking import best_of_session, rank, supersession
from satchel.memory.terms import passage_terms, query_terms

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ENCODER = HashingEncoder(64)
TEXTS = st.lists(
    st.sampled_from(["garden gate", "green gate?", "I moved to Seoul", "방이 넓다", "", "gate " * 9]),
    min_size=1,
    max_size=8,
)


def message(seq, content, *, role="user", session=None, minutes=None):
    said = NOW - timedelta(days=30) + timedelta(minutes=seq if minutes is None else minutes)
    return Message(session or f"s{seq}", f"m{seq}", seq, role, content, {}, said, True)


def encoded(text, input_type="passage") -> Encoding:
    return ENCODER.encode([text], input_type=input_type)[0]


def candidates(messages, query, *, documents=None, corpus=50) -> Candidates:
    words = tuple(query_terms(query))
    vector = encoded(query, "query").pooled
    by_seq = {}
    for one in messages:
        terms, encoding = passage_terms(one.content), encoded(one.content)
        counts = {
            at: max(terms[v] for v in word.variants) for at, word in enumerate(words) if word.variants & terms.keys()
        }
        by_seq[one.seq] = Candidate(one, float(encoding.pooled @ vector), encoding.tokens, counts, terms.total())
    return Candidates(by_seq, frozenset(by_seq), {}, words, documents or {}, corpus)


def ranked(messages, query, **options):
    found = candidates(messages, query, **options)
    intent = read_intent(query, speakers=found.speakers, now=NOW)
    return list(rank(found, encoded(query, "query"), intent, ENCODER.background))


@given(TEXTS, st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_the_order_of_the_input(texts, random):
    messages = [message(seq, text) for seq, text in enumerate(texts, 1)]
    shuffled = random.sample(messages, len(messages))
    first, second = ranked(messages, "garden gate"), ranked(shuffled, "garden gate")
    assert [hit.message.seq for hit in first] == [hit.message.seq for hit in second]
    assert [hit.score for hit in first] == pytest.approx([hit.score for hit in second], abs=1e-6)


@given(TEXTS)
def test_scores_are_probabilities_best_first(texts):
    hits = ranked([message(seq, text) for seq, text in enumerate(texts, 1)], "where is the garden gate?")
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= hit.score <= 1 and 0 <= hit.similarity <= 1 for hit in hits)


def test_ties_go_to_the_newer_message():
    hits = ranked([message(1, "garden gate"), message(2, "garden gate"), message(3, "garden gate")], "garden gate")
    assert [hit.message.seq for hit in hits] == [3, 2, 1]


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=12), st.floats(-5, 5))
def test_with_statistics_held_fixed_a_new_message_moves_a_hit_down_by_at_most_one_place(ranks, new):
    messages = [message(seq, "x") for seq in range(1, len(ranks) + 2)]

    def order(values):
        column = np.array(values)
        lifted = column + supersession(column, messages[: len(values)])
        return sorted(range(len(values)), key=lambda row: (-lifted[row], -row))

    before, after = order(ranks), order([*ranks, new])
    assert all(after.index(row) - before.index(row) in (0, 1) for row in range(len(ranks)))


@given(TEXTS, st.sampled_from(["garden gate", "which gate is green?", "where do I live now?"]), st.integers(1, 9))
def test_with_statistics_held_fixed_a_message_of_its_own_session_moves_a_hit_down_by_at_most_one_place(
    texts, query, at
):
    messages = [message(2 * seq, text) for seq, text in enumerate(texts, 1)]
    new = message(2 * at - 1, "I live by the green gate")
    before = [hit.message.seq for hit in ranked(messages, query)]
    after = [hit.message.seq for hit in ranked([*messages, new], query)]
    assert all(after.index(seq) - place in (0, 1) for place, seq in enumerate(before))


def test_an_answer_leans_on_what_was_said_two_messages_before_it():
    asked = message(2, "How long have you had the garden gate?", role="assistant")
    alone, answer = message(1, "Three years, I think."), message(4, "Three years, I think.")
    between = message(3, "Hm?")
    found = candidates([alone, asked, between, answer], "garden gate")
    found = replace(found, ranked=frozenset({1, 4}), before={3: 2, 4: 3})
    query = "what about the garden gate?"
    hits = list(rank(found, encoded(query, "query"), read_intent(query, speakers=(), now=NOW), ENCODER.background))
    assert [hit.message.seq for hit in hits] == [4, 1]
    assert hits[0].contributions["meaning"] > hits[1].contributions["meaning"]


@pytest.mark.parametrize(
    ("query", "without", "answer"),
    [
        ("How long have I had the gate?", "I have had the gate", "I have had the gate for years"),
        ("How many gates are there?", "there are gates", "there are two gates"),
        ("Who painted the gate?", "she painted the gate", "so Mina painted the gate"),
    ],
)
def test_a_message_that_gives_the_kind_of_answer_asked_for_comes_first(query, without, answer):
    for first, second in ((without, answer), (answer, without)):
        assert ranked([message(1, first), message(2, second)], query)[0].message.content == answer


def test_what_only_stands_beside_a_match_scores_less_than_the_match():
    found = candidates([message(1, "the garden gate is green"), message(2, "Closed the trade.")], "garden gate green")
    found = replace(found, before={2: 1})
    query = "is the garden gate green?"
    match, beside = rank(found, encoded(query, "query"), read_intent(query, speakers=(), now=NOW), ENCODER.background)
    assert (match.message.seq, beside.message.seq) == (1, 2)
    assert beside.score < 0.7 * match.score


def test_a_long_message_without_vectors_is_judged_as_the_part_that_is_read():
    def score(length):
        found = candidates([message(1, "gate " + "x" * length)], "gate")
        found = replace(found, by_seq={1: found.by_seq[1]._replace(similarity=None, tokens=None)})
        return next(
            iter(rank(found, encoded("gate", "query"), read_intent("gate", speakers=(), now=NOW), ENCODER.background))
        ).score

    assert score(10_000) == score(100_000)


def test_a_reaction_gives_way_to_what_it_reacts_to():
    hits = ranked([message(1, "the gate is green now."), message(2, "Great, the gate is green.")], "garden gate colour")
    assert hits[1].contributions["reaction"] < 0


def test_a_newer_statement_takes_the_place_of_an_older_one_when_asked_how_things_are():
    messages = [message(1, "I live in Busan near the sea"), message(2, "I live in Seoul near the park")]
    assert "Seoul" in ranked(messages, "Where do I live now?")[0].message.content
    turned = [message(1, "I live in Seoul near the park"), message(2, "I live in Busan near the sea")]
    assert "Busan" in ranked(turned, "Where do I live now?")[0].message.content


def test_only_the_same_speaker_supersedes_and_only_what_comes_close():
    ranks = np.array([2.0, 1.8, 1.7, 0.0])
    messages = [message(1, "a"), message(2, "b", role="assistant"), message(3, "c"), message(4, "d")]
    assert (supersession(ranks, messages) > 0).tolist() == [False, False, True, False]


def test_the_asked_role_comes_first():
    said = [message(1, "the gate is green", role="assistant"), message(2, "the gate is green")]
    assert ranked(said, "what did you say about the gate?")[0].message.role == "assistant"
    assert ranked(said, "what did I say about the gate?")[0].message.role == "user"


def test_a_named_day_comes_first():
    said = [message(1, "we met at noon", minutes=0), message(2, "we met at noon", minutes=60 * 24 * 3)]
    hits = ranked(said, f"where did we meet on {(NOW - timedelta(days=30)).date().isoformat()}?")
    assert hits[0].message.seq == 1
    assert hits[0].contributions["days"] > 0


def test_what_was_talked_about_on_a_day_shows_in_what_the_user_brought_up():
    messages = [message(1, "Let us see the garden gate."), message(2, "The garden gate is open.", role="assistant")]
    day = f"{messages[0].created_at:%B %d}"
    assert [hit.message.seq for hit in ranked(messages, f"what did we talk about on {day}?")] == [1, 2]


def test_a_message_that_asks_gives_way_to_one_that_tells():
    hits = ranked([message(1, "the gate is green?"), message(2, "the gate is green.")], "what colour is the gate?")
    assert [hit.message.seq for hit in hits] == [2, 1]


def test_an_answer_leans_on_the_question_before_it():
    alone, answer = message(1, "Blue, mostly."), message(3, "Green, mostly.")
    asked = message(2, "What colour is the garden gate?", role="assistant")
    found = candidates([alone, asked, answer], "garden gate colour")
    found = replace(found, ranked=frozenset({1, 3}), before={3: 2})
    query = "garden gate colour"
    hits = list(rank(found, encoded(query, "query"), read_intent(query, speakers=(), now=NOW), ENCODER.background))
    assert [hit.message.seq for hit in hits] == [3, 1]


def test_messages_without_vectors_are_ranked_by_their_words():
    found = candidates([message(1, "the garden gate"), message(2, "something else")], "garden gate")
    bare = {seq: Candidate(one.message, None, None, one.frequencies, one.length) for seq, one in found.by_seq.items()}
    intent = read_intent("garden gate", speakers=(), now=NOW)
    hits = list(rank(replace(found, by_seq=bare), encoded("garden gate", "query"), intent, ENCODER.background))
    assert [(hit.message.seq, hit.similarity) for hit in hits] == [(1, 0.0), (2, 0.0)]


def test_an_encoder_without_token_vectors_still_ranks_by_meaning():
    query = replace(encoded("garden gate", "query"), tokens=None, spans=())
    found = candidates([message(1, "garden gate"), message(2, "something other")], "garden gate")
    hits = list(rank(found, query, read_intent("garden gate", speakers=(), now=NOW), ENCODER.background))
    assert hits[0].message.seq == 1
    assert hits[0].contributions["meaning"] > 0


def test_no_candidates_are_no_hits():
    assert ranked([], "garden gate") == []


def test_a_session_speaks_through_its_best_three():
    assert best_of_session(np.array([4.0, 1.0, 3.0, 2.0, 9.0]), ["a", "a", "a", "a", "b"]).tolist() == [3, 3, 3, 3, 9]


def best(query, messages):
    nothing = np.zeros((1, query.shape[1]), np.float32)
    return best_cosines(query, messages, query_mean=nothing[0], means=nothing, rows=[0] * len(messages))


@given(st.integers(1, 4), st.lists(st.integers(1, 5), min_size=1, max_size=5))
def test_late_interaction_gives_cosines_for_every_message_and_piece(pieces, lengths):
    draw = np.random.default_rng(sum(lengths))
    query = draw.integers(-127, 127, (pieces, 16)).astype(np.int8)
    messages = [draw.integers(-127, 127, (length, 16)).astype(np.int8) for length in lengths]
    mean = draw.normal(size=(2, 16)).astype(np.float32) / 8
    rows = [length % 2 for length in lengths]
    found = best_cosines(query, messages, query_mean=mean[0], means=mean, rows=rows)
    expected = [
        cosines(centred(query, mean[0]), centred(one, mean[row])) for one, row in zip(messages, rows, strict=True)
    ]
    assert found == pytest.approx(np.array(expected), abs=1e-4)


def centred(pieces, mean):
    return pieces / np.linalg.norm(pieces, axis=1, keepdims=True) - mean


def cosines(query, message):
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (query, message)]
    return (unit[0] @ unit[1].T).max(axis=1)


def test_a_piece_that_is_met_exactly_has_the_greatest_cosine():
    words = encoded("garden gate").tokens
    others = [encoded("something else here").tokens, words, encoded("wholly different words").tokens]
    assert best(words, others).argmax(axis=0).tolist() == [1, 1]


@given(st.lists(st.sampled_from(["we walked home", "the tea was cold", "방이 넓다"]), max_size=7))
def test_what_is_beside_a_message_never_changes_how_well_it_meets_a_query(others):
    query = "where is the garden gate?"
    gate = message(1, "the garden gate is by the lane")
    beside = [message(seq, text) for seq, text in enumerate(others, 2)]

    def row_of_the_gate(messages):
        found = candidates(messages, query)
        intent = read_intent(query, speakers=(), now=NOW)
        features = read_features(found, sorted(found.ranked), encoded(query, "query"), intent, ENCODER.background)
        return [float(column[0]) for column in astuple(features)]

    assert row_of_the_gate([gate, *beside]) == pytest.approx(row_of_the_gate([gate]), abs=1e-5)


def test_a_word_found_word_for_word_lifts_its_message_and_not_its_session():
    texts = ["hi there", "the tea was cold", "we walked home late", "my sister paints"]
    hits = ranked([message(seq, text, session="s") for seq, text in enumerate(texts, 1)], "hi")
    assert hits[0].message.content == "hi there"
    assert all(hit.score < hits[0].score / 2 for hit in hits[1:])


@pytest.mark.parametrize("corpus", [1, 5, 100, 10_000])
def test_the_more_messages_the_less_a_likeness_proves(corpus):
    few, many = (ranked([message(1, "garden gate")], "garden gate", corpus=n)[0].score for n in (corpus, 2 * corpus))
    assert many < few
