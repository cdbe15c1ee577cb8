"""`fetch_candles`: store past candles of an exchange."""

from satchel import desk_wiring, wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.market import FetchCandlesArguments, ImportCandlesResult
from satchel.market.fetching import fetch_candles, fetched_set


@tool("fetch_candles", FetchCandlesArguments, scope="trade:paper")
def handler(arguments: FetchCandlesArguments, call: Call) -> ImportCandlesResult:
    """All of them or none; they stand in place of the exchange's earlier ones."""
    now = wiring.clock()
    asked = arguments.symbol, arguments.timeframe
    bars = fetch_candles(
        desk_wiring.candle_pages(arguments.exchange),
        *asked,
        since=arguments.since,
        until=arguments.until,
        now=now,
        seconds_left=lambda: call.remaining_ms() / 1000,
    )
    count = desk_wiring.own_candles(call.user_id).replace(fetched_set(arguments.exchange, *asked, now), bars, now)
    return ImportCandlesResult(
        symbol=arguments.symbol, timeframe=arguments.timeframe, provider=arguments.exchange, bars=count
    )
