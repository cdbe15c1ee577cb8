"""`import_candles`: store candles of the user's own."""

from satchel import desk_wiring, wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.market import ImportCandlesArguments, ImportCandlesResult
from satchel.market.importing import read_csv


@tool("import_candles", ImportCandlesArguments, scope="trade:paper")
def handler(arguments: ImportCandlesArguments, call: Call) -> ImportCandlesResult:
    """All of them or none; they stand in place of the provider's earlier ones."""
    candle_set = arguments.to_set()
    bars = read_csv(arguments.csv.splitlines())
    count = desk_wiring.own_candles(call.user_id).replace(candle_set, bars, wiring.clock())
    return ImportCandlesResult(
        symbol=candle_set.symbol, timeframe=candle_set.timeframe, provider=candle_set.provider, bars=count
    )
