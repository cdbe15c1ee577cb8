import dataclasses
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise

import pytest

from satchel.errors import InvalidInputError
from satchel.market.candles import Candle, CandleSet
from satchel.market.seeding import seed_sets
from satchel.market.store import EVERYBODY, CandleStore

NOW = datetime(2025, 6, 1, tzinfo=UTC)
SET = CandleSet(provider="a.csv", symbol="BTC/USDT", timeframe="1d", source="a file", licence="unknown")


def bars(*closes):
    return [
        Candle(datetime(2025, 1, day, tzinfo=UTC), price, price, price, price, Decimal(2**40))
        for day, price in enumerate(map(Decimal, closes), 1)
    ]


def test_a_set_comes_back_by_column_in_order_and_within_a_half_open_range(database):
    store = CandleStore(database, "alice")
    assert store.replace(SET, bars("1.5", "2", "0.000017"), NOW) == 3
    found = store.find("BTC/USDT", "1d")
    assert found.candles == SET
    columns = store.columns(found, None, None)
    assert columns.close == [1.5, 2.0, 0.000017]
    assert columns.volume == [float(2**40)] * 3
    part = store.columns(found, datetime(2025, 1, 2, tzinfo=UTC), datetime(2025, 1, 3, tzinfo=UTC))
    assert part.close == [2.0]
    assert part.digest() != columns.digest()


def test_importing_again_replaces_and_a_wrong_bar_leaves_all_as_it_was(database):
    store = CandleStore(database, "alice")
    store.replace(SET, bars("1"), NOW)
    store.replace(SET, bars("2", "3"), NOW)

    def broken():
        yield from bars("9")
        raise InvalidInputError("line 3")

    with pytest.raises(InvalidInputError):
        store.replace(SET, broken(), NOW)
    assert store.columns(store.find("BTC/USDT", "1d"), None, None).close == [2.0, 3.0]


def test_a_user_sees_their_own_bars_before_those_for_everybody_and_never_anothers(database):
    shared = dataclasses.replace(SET, provider="seed")
    CandleStore(database, EVERYBODY).replace(shared, bars("1"), NOW)
    CandleStore(database, "alice").replace(SET, bars("2"), NOW)
    assert CandleStore(database, "alice").find("BTC/USDT", "1d").candles.provider == "a.csv"
    assert CandleStore(database, "bob").find("BTC/USDT", "1d").candles.provider == "seed"
    assert CandleStore(database, "bob").available() == [("BTC/USDT", "1d")]


def test_every_seed_set_is_real_data_with_a_licence(database):
    sets = list(seed_sets())
    assert [candle_set.symbol for candle_set, _ in sets] == ["AAPL", "GOOG", "IBM", "MSFT", "SP500", "NASDAQ"]
    assert all(candle_set.licence in {"BSD-3-Clause", "NCSA"} and not candle_set.synthetic for candle_set, _ in sets)
    # Apple's shares were split two for one on 2005-02-28: adjusted prices do not halve.
    apple = [bar for bar in sets[0][1] if bar.ts.year == 2005]
    assert max(abs(b.close / a.close - 1) for a, b in pairwise(apple)) < Decimal("0.15")
