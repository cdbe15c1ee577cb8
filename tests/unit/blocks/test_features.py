from hypothesis import given, settings
from hypothesis import strategies as st

from satchel.blocks.continuity import shipped_model
from satchel.blocks.features import NAMES, Turn, extract
from satchel.blocks.window import FAR, WINDOW

NEWCOMER_AGO = NAMES.index("newcomer_ago")
TEXTS = (
    "How does quicksort work?", "it picks a pivot", "@bob thanks", "ok thanks 😀", "hi all", "네",
    "오늘 저녁 뭐 먹을까?", "지수: 된장찌개 어때요?", "npm install fails with EACCES", "```py\nprint(1)\n```", "",
)  # fmt: skip
TURN = st.builds(
    Turn,
    text=st.sampled_from(TEXTS),
    role=st.sampled_from(("user", "user", "assistant", "tool")),
    speaker=st.sampled_from(("", "", "bob", "지수", "al")),
    gap_s=st.sampled_from((5.0, 60.0, 700.0, 7200.0)),
)
SESSIONS = st.lists(TURN, min_size=WINDOW + 1, max_size=4 * WINDOW)


def seen(turns):
    return [each[:2] for each in extract(turns, shipped_model().lexicon)]


@settings(max_examples=60)
@given(SESSIONS)
def test_what_is_seen_of_a_turn_is_in_its_window(session):
    whole = seen(session)
    for index in range(WINDOW, len(session), 7):
        # What comes before the window is not known, nor is the pause that it ends with.
        first, *others = session[index - WINDOW : index + 1]
        assert seen([first._replace(gap_s=None), *others])[-1] == whole[index], index


def newcomers(*speakers):
    turns = [Turn("네", "user", speaker, 60.0) for speaker in speakers]
    return [numbers[NEWCOMER_AGO] for numbers, _ in seen(turns)]


def test_a_newcomer_is_who_the_window_had_not_heard_and_counts_for_half_of_it():
    assert newcomers(*["bob"] * 20, "지수", *["bob"] * 20)[-21:] == [FAR, *range(1, 16), *[FAR] * 5]
    assert newcomers("지수", *["bob"] * 40, "지수", "bob")[-1] == 1
    assert newcomers("지수", *["bob"] * 20, "지수", "bob")[-1] == FAR
