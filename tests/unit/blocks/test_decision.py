from hypothesis import given
from hypothesis import strategies as st

from satchel.blocks.decision import Decision, certainty, decide, fall_back
from satchel.blocks.sessions import Options

scores = st.floats(min_value=0.000001, max_value=0.999999)
gaps = st.none() | st.floats(min_value=0, max_value=1e6)


def action(gap_s, score, options):
    return fall_back(decide(gap_s, score, options), options).action


def test_without_an_open_block_a_message_opens_one_whatever_its_score():
    assert decide(0, 0.99, Options(), has_open_block=False) == Decision("NEW_BLOCK", "first", None)


def test_a_gap_of_exactly_the_limit_is_not_over_it():
    assert decide(600, 0.9, Options()).action == "APPEND"
    assert decide(600.001, 0.9, Options()) == Decision("NEW_BLOCK", "gap", 0.9)


def test_in_soft_mode_a_gap_alone_opens_nothing():
    assert decide(86_400, 0.9, Options(gap_mode="soft")).rule == "high"


def test_a_score_on_a_threshold_is_decided_by_it():
    assert decide(0, 0.20, Options()) == Decision("NEW_BLOCK", "low", 0.20)
    assert decide(0, 0.45, Options()) == Decision("APPEND", "high", 0.45)
    assert decide(0, 0.3, Options()) == Decision(None, "zone", 0.3)


def test_equal_thresholds_leave_no_zone():
    options = Options(shift_low_sim=0.3, shift_high_sim=0.3)
    assert decide(0, 0.3, options).rule == "low"
    assert decide(0, 0.300001, options).rule == "high"


def test_the_zone_falls_to_the_midpoint():
    assert action(0, 0.325, Options()) == "NEW_BLOCK"
    assert action(0, 0.326, Options()) == "APPEND"


@given(gaps, scores, st.tuples(*[st.floats(0, 1)] * 4))
def test_raising_a_threshold_never_removes_a_boundary(gap_s, score, thresholds):
    low, lower, high, higher = sorted(thresholds[:2]) + sorted(thresholds[2:])
    if low > high or lower > higher:
        return
    before = action(gap_s, score, Options(shift_low_sim=low, shift_high_sim=high))
    after = action(gap_s, score, Options(shift_low_sim=lower, shift_high_sim=higher))
    assert not (before == "NEW_BLOCK" and after == "APPEND")


@given(st.floats(0, 1e6), scores, st.floats(0.1, 1e4), st.floats(0.1, 1e4))
def test_shortening_the_gap_never_removes_a_boundary(gap_s, score, a, b):
    shorter, longer = sorted((a, b))
    if action(gap_s, score, Options(time_gap_minutes=longer)) == "NEW_BLOCK":
        assert action(gap_s, score, Options(time_gap_minutes=shorter)) == "NEW_BLOCK"


@given(gaps, scores, st.floats(0.1, 1e4), st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_the_rule_of_hard_mode_adds_boundaries_and_takes_none_away(gap_s, score, minutes, thresholds):
    low, high = sorted(thresholds)
    soft, hard = (
        action(gap_s, score, Options(minutes, low, high, gap_mode=mode))  # the same score for both
        for mode in ("soft", "hard")
    )
    over = gap_s is not None and gap_s > minutes * 60
    assert hard == ("NEW_BLOCK" if over else soft)


@given(gaps, scores)
def test_certainty_is_a_share_and_a_fall_back_is_never_sure(gap_s, score):
    decided = decide(gap_s, score, Options())
    assert 0 <= certainty(fall_back(decided, Options()), Options()) <= 1
    if decided.action is None:
        assert certainty(fall_back(decided, Options()), Options()) <= 0.5
