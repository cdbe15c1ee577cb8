from datetime import UTC, datetime, timedelta

import pytest

from satchel.memory.age import age_in_words

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(0), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(minutes=59, seconds=59), "59 minutes ago"),
        (timedelta(hours=23, minutes=59), "23 hours ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=14), "2 weeks ago"),
        (timedelta(days=31), "1 month ago"),
        (timedelta(days=400), "1 year ago"),
        (timedelta(days=-3), "in the future"),
        (timedelta(seconds=-5), "just now"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(age, words):
    assert age_in_words(NOW - age, NOW) == words
