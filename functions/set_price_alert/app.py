"""`set_price_alert`: watch a price."""

from satchel import desk_wiring, wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.accounts import SetPriceAlertArguments, SetPriceAlertResult
from satchel.trading.account import PAPER
from satchel.trading.money import plain


@tool("set_price_alert", SetPriceAlertArguments, scope="trade:paper")
def handler(arguments: SetPriceAlertArguments, call: Call) -> SetPriceAlertResult:
    """Kept until a candle crosses it."""
    with desk_wiring.market(call.user_id).open(PAPER) as session:
        session.facts(arguments.symbol, None, wiring.clock())
        session.put_price_alert(arguments.symbol, arguments.direction, arguments.price)
    return SetPriceAlertResult(symbol=arguments.symbol, direction=arguments.direction, price=plain(arguments.price))
