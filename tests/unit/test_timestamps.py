from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.errors import InvalidInputError
from satchel.timestamps import format_timestamp, parse_timestamp


@pytest.mark.parametrize(
    ("written", "instant"),
    [
        ("2026-01-01T00:00:00-05:00", "2026-01-01T05:00:00Z"),
        ("2026-01-01T05:00:00", "2026-01-01T05:00:00Z"),
        (" 2026-01-01T05:00:00Z ", "2026-01-01T05:00:00Z"),
        (1767225600, "2026-01-01T00:00:00Z"),
        (1767225600000, "2026-01-01T00:00:00Z"),
        ("1767225600", "2026-01-01T00:00:00Z"),
        ("1767225600000", "2026-01-01T00:00:00Z"),
        (1767225600.25, "2026-01-01T00:00:00.250000Z"),
        (Decimal("1767225600.000001"), "2026-01-01T00:00:00.000001Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
        ("2016-12-31T18:59:60-05:00", "2017-01-01T00:00:00Z"),
        ("2016-12-31T23:59:60.5", "2017-01-01T00:00:00Z"),
        ("2026-01-01", "2026-01-01T00:00:00Z"),
        (-1, "1969-12-31T23:59:59Z"),
    ],
)
def test_a_time_stamp_is_read_as_the_instant_it_names(written, instant):
    assert format_timestamp(parse_timestamp(written, field="timestamp")) == instant


@pytest.mark.parametrize(
    "written",
    [
        "",
        "yesterday",
        "2026-13-01T00:00:00Z",
        "2026-02-30",
        True,
        None,
        [],
        {},
        float("nan"),
        float("inf"),
        10**30,
        "9999999999999999",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:60Z",
        "٢٠٢٦",
        "1e5",
    ],
)
def test_anything_else_is_refused_by_the_name_of_its_field(written):
    with pytest.raises(InvalidInputError) as refused:
        parse_timestamp(written, field="since")
    assert refused.value.field == "since"


@given(st.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(9000, 1, 1)), st.integers(-14 * 60, 14 * 60))  # noqa: DTZ001
def test_what_is_written_is_read_back_as_the_same_instant(moment, offset_minutes):
    instant = moment.replace(tzinfo=UTC)
    assert parse_timestamp(format_timestamp(instant), field="t") == instant
    shifted = instant.astimezone(__import__("datetime").timezone(timedelta(minutes=offset_minutes)))
    assert parse_timestamp(shifted.isoformat(), field="t") == instant
