from datetime import UTC, datetime
from decimal import Decimal

import pytest

from satchel.errors import InvalidInputError
from satchel.market.importing import read_csv

LINES = ["Date,Open,High,Low,Close,Volume\n", "2025-01-01,0.00001700,2,0.00001700,1.5,10\n", "2025-01-02,1,3,1,2,0\n"]


def test_prices_stay_exact_and_naive_times_are_utc():
    first, second = read_csv(LINES)
    assert first.ts == datetime(2025, 1, 1, tzinfo=UTC)
    assert str(first.open) == "0.00001700"
    assert second.close == Decimal(2)


def test_columns_are_found_by_their_usual_names_in_any_order():
    (candle,) = read_csv(["close,low,high,open,open_time\n", "2,1,3,1.5,1735689600000\n"])
    assert (candle.ts, candle.volume) == (datetime(2025, 1, 1, tzinfo=UTC), Decimal(0))


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["date,open,high,low\n"], "no column for close"),
        ([LINES[0], "2025-01-01,1,2,1,x,1\n"], "line 2: a price is not a number"),
        ([LINES[0], "2025-01-01,1,2,1,NaN,1\n"], "line 2: close is not a number"),
        ([LINES[0], "2025-01-01,1,2,1\n"], "line 2: a price is not a number"),
        ([LINES[0], "2025-01-01,5,2,1,1,1\n"], "line 2: high is below"),
        ([LINES[0], "2025-01-01,1,2,1.5,2,1\n"], "line 2: low is above"),
        ([LINES[0], "2025-01-01,1,2,0,1,1\n"], "line 2: prices are positive"),
        ([LINES[0], "2025-01-01,1,2,1,1,-1\n"], "line 2: volume is negative"),
        ([LINES[0], "yesterday,1,2,1,1,1\n"], "line 2: "),
        (["x" * 300_000], "line 1 is no CSV: field larger"),
        ([LINES[0], "2025-01-01," + "1" * 300_000], "line 2 is no CSV: field larger"),
        ([LINES[0], LINES[2], LINES[1]], "line 3: bars must be in order"),
        ([LINES[0], LINES[1], LINES[1]], "line 3: bars must be in order"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(lines, told):
    with pytest.raises(InvalidInputError, match=told):
        list(read_csv(lines))
