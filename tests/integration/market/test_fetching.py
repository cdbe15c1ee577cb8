"""Candles through unmodified ccxt, from a local server that speaks Binance's API. No real exchange was ever reached."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from satchel import desk_wiring
from satchel.errors import DeadlineError, InvalidInputError, TooLargeError
from satchel.exchange.ccxt_spot import CcxtExchange, open_exchange
from satchel.market.fetching import fetch_candles
from satchel.market.store import CandleStore
from tests.conftest import direct
from tests.support.binance_server import FIRST_CANDLE_MS, binance

FIRST = datetime.fromtimestamp(FIRST_CANDLE_MS / 1000, UTC)
LATER = FIRST + timedelta(days=10)


@pytest.fixture
def exchange():
    with binance() as (book, url):
        client = open_exchange("binance", {})
        api = client.urls["api"]
        client.urls["api"] = {name: text.replace("https://api.binance.com", url) for name, text in api.items()}
        yield book, CcxtExchange("binance", client)


def fetch(exchange, *, since=FIRST, until=None, now=LATER, seconds_left=28.0):
    asked = ("PEPE/USDT", "1m")
    return fetch_candles(exchange, *asked, since=since, until=until, now=now, seconds_left=lambda: seconds_left)


def test_all_pages_are_fetched_each_bar_once_with_its_digits(exchange):
    book, source = exchange
    bars = fetch(source)
    assert [bar.ts for bar in bars] == [FIRST + timedelta(minutes=index) for index in range(2_500)]
    assert (bars[0].open, bars[0].volume) == (Decimal("0.00001700"), Decimal("12345678901.5"))
    assert len([1 for _, path, _ in book.requests if path.endswith("klines")]) == 3
    assert all("signature" not in given for _, _, given in book.requests)


def test_a_part_is_fetched_and_the_bar_that_is_not_over_is_left_out(exchange):
    _, source = exchange
    part = fetch(source, since=FIRST + timedelta(seconds=30), until=FIRST + timedelta(minutes=4))
    assert [bar.ts for bar in part] == [FIRST + timedelta(minutes=index) for index in (1, 2, 3)]
    assert fetch(source, now=FIRST + timedelta(minutes=2, seconds=30))[-1].ts == FIRST + timedelta(minutes=1)
    assert fetch(source, now=FIRST + timedelta(minutes=2))[-1].ts == FIRST + timedelta(minutes=1)


def test_too_many_none_and_no_time_are_told(exchange):
    _, source = exchange
    with pytest.raises(TooLargeError):
        fetch(source, since=FIRST - timedelta(days=30))
    with pytest.raises(InvalidInputError):
        fetch(source, since=LATER - timedelta(minutes=5))
    with pytest.raises(DeadlineError):
        fetch(source, seconds_left=7.0)


def test_the_tool_stores_them_with_source_and_licence(exchange, invoke, database, monkeypatch):
    monkeypatch.setattr(desk_wiring, "candle_pages", lambda _name: exchange[1])
    asked = {"symbol": "PEPE/USDT", "timeframe": "1m", "since": FIRST_CANDLE_MS, "until": FIRST_CANDLE_MS + 3_600_000}
    answer = invoke("fetch_candles", direct(scopes=["trade:paper"], arguments=asked))["structuredContent"]
    assert answer == {"symbol": "PEPE/USDT", "timeframe": "1m", "provider": "binance", "bars": 60}
    found = CandleStore(database, "alice").find("PEPE/USDT", "1m")
    assert found.candles.licence.startswith("the exchange's terms of use")
    assert "binance" in found.candles.source
