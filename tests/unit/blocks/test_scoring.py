from datetime import UTC, datetime, timedelta
from itertools import accumulate

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from satchel.blocks.builder import plan_new, settle
from satchel.blocks.continuity import shipped_model
from satchel.blocks.scoring import score_session
from satchel.blocks.sessions import Message, Options

START = datetime(2025, 1, 1, 9, tzinfo=UTC)
LIMIT_S = 600
TEXTS = st.text(max_size=80) | st.sampled_from((
    "", " ", "네", "😀" * 30, "@bob thanks, that works", "hi all, why does npm install fail with EACCES?",
    "오늘 저녁 뭐 먹을까?", "```py\nprint(1)\n```", "x" * 5_000, "why did the server die",
))  # fmt: skip
TURNS = st.lists(
    st.tuples(
        st.sampled_from(("user", "assistant", "system", "tool")), TEXTS, st.sampled_from(("", "bob", "지수")),
        st.floats(0, 1e8) | st.sampled_from((0.0, LIMIT_S, LIMIT_S + 0.001)),
    ),
    min_size=1,
    max_size=40,
)  # fmt: skip
SIMILARITIES = st.sampled_from(("continuity", "cosine"))
MODES = st.sampled_from(("hard", "soft"))
OPTIONS = st.builds(
    Options,
    gap_mode=MODES,
    similarity=SIMILARITIES,
    context=st.integers(1, 30),
    time_gap_minutes=st.floats(0.01, 1e5),
)


def messages(turns):
    times = accumulate((timedelta(seconds=pause_s) for *_, pause_s in turns), initial=START)
    next(times)
    return [
        Message(f"m{number:02}", role, text, at, speaker)
        for number, ((role, text, speaker, _), at) in enumerate(zip(turns, times, strict=True))
    ]


def actions(turns, **options):
    chosen = Options(**options)
    planned = list(plan_new(messages(turns), chosen, shipped_model()))
    return [item.decision.action for item in settle(planned, {}, chosen)]


@settings(max_examples=150)
@given(TURNS, OPTIONS, st.booleans())
def test_every_score_is_between_zero_and_one_and_neither(turns, options, timed):
    sent = [message if timed else message._replace(at=None) for message in messages(turns)]
    scores = [scored.score for scored in score_session(sent, options, shipped_model())]
    assert len(scores) == len(turns)
    assert all(0 < score < 1 and score == round(score, 6) for score in scores)


@given(MODES, st.integers(), st.integers())
@example("soft", -(10**30), 10**30)
def test_more_evidence_for_a_new_block_is_never_a_higher_score_and_no_evidence_is_past_the_ends(mode, a, b):
    less, more = sorted((a, b))
    low, high = shipped_model().score(more, mode), shipped_model().score(less, mode)
    assert 0 < low <= high < 1


@settings(max_examples=60)
@given(TURNS, SIMILARITIES)
def test_in_hard_mode_every_pause_over_the_limit_opens_a_block(turns, similarity):
    for action, (*_, pause_s) in list(zip(actions(turns, similarity=similarity), turns, strict=True))[1:]:
        if round(pause_s, 6) > LIMIT_S:
            assert action == "NEW_BLOCK"


@settings(max_examples=60)
@given(TURNS)
def test_where_the_pause_is_no_evidence_the_hard_rule_adds_blocks_and_takes_none_away(turns):
    soft = actions(turns, similarity="cosine", gap_mode="soft")
    hard = actions(turns, similarity="cosine", gap_mode="hard")
    assert {n for n, action in enumerate(soft) if action == "NEW_BLOCK"} <= {
        n for n, action in enumerate(hard) if action == "NEW_BLOCK"
    }


@settings(max_examples=60)
@given(TURNS, st.lists(st.floats(0, 1), min_size=40, max_size=40))
def test_in_hard_mode_it_does_not_matter_how_long_a_pause_is_on_its_side_of_the_limit(turns, shares):
    moved = [
        (*turn[:3], LIMIT_S + 1 + share * 1e6 if turn[3] > LIMIT_S + 1e-6 else share * LIMIT_S)
        for turn, share in zip(turns, shares, strict=False)
    ]
    assert actions(moved) == actions(turns)


@pytest.mark.parametrize("similarity", ["continuity", "cosine"])
def test_what_says_the_same_as_the_message_before_scores_highest(similarity):
    turns = [("user", "why did the server die", "", 60.0)] * 3
    options = Options(similarity=similarity)
    first, *again = [scored.score for scored in score_session(messages(turns), options, shipped_model())]
    assert again == [0.999999] * 2
    assert first < 0.999999
