from datetime import date

import pytest

from satchel.filtering.date_ranges import find, from_filter

TODAY = date(2026, 3, 10)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("issues created since 2022-10-20", date(2022, 10, 20), None),
        ("created after 2022-10-20", date(2022, 10, 21), None),
        ("bugs created in December 2020", date(2020, 12, 1), date(2020, 12, 31)),
        ("on 5 March 2021", date(2021, 3, 5), date(2021, 3, 5)),
        ("resolved in 2021", date(2021, 1, 1), date(2021, 12, 31)),
        ("before 2020", None, date(2019, 12, 31)),
        ("until Feb 2024", None, date(2024, 2, 29)),
        ("Q3 2024 revenue", date(2024, 7, 1), date(2024, 9, 30)),
        ("2023-05 report", date(2023, 5, 1), date(2023, 5, 31)),
        ("between 2021-01-05 and 2021-02-01", date(2021, 1, 5), date(2021, 2, 1)),
        ("from 2021-01-05 only", date(2021, 1, 5), None),
        ("in the last 7 days", date(2026, 3, 3), TODAY),
        ("yesterday", date(2026, 3, 9), date(2026, 3, 9)),
        ("today", TODAY, TODAY),
    ],
)
def test_a_range_is_read_from_words(text: str, first: date | None, last: date | None) -> None:
    [span] = find(text, TODAY)
    assert (span.first, span.last) == (first, last)


@pytest.mark.parametrize("text", ["2023-02-30", "room 2021 is free", "nothing here", "May I ask"])
def test_what_is_no_date_gives_no_range(text: str) -> None:
    assert find(text, TODAY) == []


def test_relative_dates_need_to_know_today() -> None:
    assert find("last week", None) == []


def test_an_open_between_is_a_start() -> None:
    spans = find("between 2020 and in 2022 since 2023", None)
    assert [span.first for span in spans] == [date(2020, 1, 1), date(2022, 1, 1), date(2023, 1, 1)]


def test_a_filter_is_read_as_a_range() -> None:
    [span] = from_filter(["2020-12-01", None])
    assert (span.first, span.last) == (date(2020, 12, 1), None)
    assert from_filter(["soon", None]) == []
    assert from_filter("2020") == []
    assert from_filter([None, None]) == []
