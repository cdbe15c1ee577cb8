from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.memory.dates import MAX_DAYS, NamedDays, named_days

WEDNESDAY = date(2023, 5, 10)


def days(first: date, last: date | None = None) -> NamedDays:
    return NamedDays(first, last or first)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("On May 4th, what did I do?", NamedDays(month=5, day=4)),
        ("the 4th of May 2022", days(date(2022, 5, 4))),
        ("2023-05-04", days(date(2023, 5, 4))),
        ("yesterday", days(date(2023, 5, 9))),
        ("last Tuesday", days(date(2023, 5, 9))),
        ("on Wednesday", days(date(2023, 5, 3))),
        ("Tuesday of last week", days(date(2023, 5, 2))),
        ("two weeks ago", days(date(2023, 4, 23), date(2023, 4, 29))),
        ("last week", days(date(2023, 5, 1), date(2023, 5, 7))),
        ("last month", days(date(2023, 4, 1), date(2023, 4, 30))),
        ("in 2022", days(date(2022, 1, 1), date(2022, 12, 31))),
        ("in May", NamedDays(month=5)),
        ("5월 4일에 뭐 했지?", NamedDays(month=5, day=4)),
        ("2022년 5월 4일", days(date(2022, 5, 4))),
        ("어제", days(date(2023, 5, 9))),
        ("사흘 전", days(date(2023, 5, 7))),
        ("지난주", days(date(2023, 5, 1), date(2023, 5, 7))),
        ("지난주 화요일", days(date(2023, 5, 2))),
        ("작년", days(date(2022, 1, 1), date(2022, 12, 31))),
        ("在5月4号这天", NamedDays(month=5, day=4)),
        ("2022年5月4日", days(date(2022, 5, 4))),
        ("前天", days(date(2023, 5, 8))),
        ("三天前", days(date(2023, 5, 7))),
        ("上周二", days(date(2023, 5, 2))),
        ("先週の火曜日", days(date(2023, 5, 2))),
    ],
)
def test_days_are_read_relative_to_the_askers_day(text, meant):
    assert named_days(text, today=WEDNESDAY)[0] == [meant]


@pytest.mark.parametrize("text", ["I may 'go'", "Feb 30", "the march on", "room 2301", "version 3.11.7", "99999 days"])
def test_what_names_no_day_is_left_alone(text):
    assert named_days(text, today=WEDNESDAY) == ([], text)


@pytest.mark.parametrize(
    "text",
    [
        "What did we discuss in our first conversation?",
        "what did I say the first time we talked",
        "우리 첫 대화 때 무슨 이야기를 했는지 기억나?",
        "처음 대화했을 때 뭐라고 했지?",
        "你还记得我们第一次对话的时候聊了什么吗?",
        "最初の会話で何を話した？",
    ],
)
def test_the_first_conversation_is_the_day_of_the_first_message(text):
    began = date(2023, 4, 27)
    assert named_days(text, today=WEDNESDAY, began=began)[0] == [days(began)]
    assert named_days(text, today=WEDNESDAY)[0] == []


@pytest.mark.parametrize(
    "text",
    [
        "the first conversation with Ann",
        "What did you recommend the first time we talked about MACD?",
        "How was the first session of physiotherapy?",
        "the first talk at PyCon",
        "our first session on options",
    ],
)
def test_a_first_conversation_with_or_about_something_is_no_day(text):
    assert named_days(text, today=WEDNESDAY, began=WEDNESDAY) == ([], text)


def test_the_last_day_of_all_is_a_day_like_others():
    (last,) = named_days("our first conversation", today=WEDNESDAY, began=date.max)[0]
    assert last.spans(today=WEDNESDAY) == [(date.max, date.max)]


@pytest.mark.parametrize("text", ["fıve days ago", "FİVE days ago"])
def test_letters_that_only_look_alike_when_case_is_ignored_are_read(text):
    assert named_days(text, today=WEDNESDAY)[0] == [days(date(2023, 5, 5))]


@pytest.mark.parametrize("text", ["last FRİDAY", "on frıday", "laſt friday"])
def test_week_days_are_read_in_such_letters_too(text):
    assert named_days(text, today=WEDNESDAY)[0] == [days(date(2023, 5, 5))]


def test_a_day_counts_once_and_no_more_than_a_few_count():
    assert named_days("1월 " * 500, today=WEDNESDAY)[0] == [NamedDays(month=1)]
    many = " ".join(f"2022-01-{day:02}" for day in range(1, 29))
    assert named_days(many, today=WEDNESDAY)[0] == [days(date(2022, 1, day)) for day in range(1, MAX_DAYS + 1)]


@pytest.mark.parametrize(
    ("named", "ahead"),
    [
        (days(date(2023, 5, 11)), True),
        (days(WEDNESDAY), False),
        (NamedDays(month=5, day=11), True),
        (NamedDays(month=5, day=10), False),
        (NamedDays(month=12), True),
        (NamedDays(month=2, day=29), False),
    ],
)
def test_days_to_come_are_told_from_those_that_have_begun(named, ahead):
    assert named.is_ahead(WEDNESDAY) == ahead


def test_the_words_of_a_day_are_blanked_out():
    assert named_days("what on May 4th?", today=WEDNESDAY)[1] == "what on        ?"


@given(st.text(), st.dates(min_value=date(1900, 1, 1)))
def test_any_text_is_read_and_keeps_its_length(text, today):
    named, rest = named_days(text, today=today)
    assert len(rest) == len(text)
    assert all(0 <= one.nearness(today) <= 1 for one in named)


def test_nearness_falls_to_nothing_within_a_week_after():
    meant = days(WEDNESDAY)
    near = [meant.nearness(WEDNESDAY + timedelta(days=late)) for late in (-1, 0, 1, 4, 7, 8)]
    assert near[:2] == [0, 1]
    assert 1 > near[2] > near[3] > near[4] == near[5] == 0


def test_a_day_of_any_year_is_near_in_every_year():
    meant = NamedDays(month=12, day=31)
    assert meant.nearness(date(2020, 12, 31)) == meant.nearness(date(2023, 12, 31)) == 1
    assert meant.nearness(date(2024, 1, 1)) > 0
    assert meant.spans(today=WEDNESDAY) == [(date(y, 12, 31), date(y + 1, 1, 1)) for y in (2023, 2022)]
