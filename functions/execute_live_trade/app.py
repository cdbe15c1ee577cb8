"""`execute_live_trade`: preview an order on a real exchange, or send it."""

from satchel import live_wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.live import ExecuteLiveTradeArguments, ExecuteLiveTradeResult


@tool("execute_live_trade", ExecuteLiveTradeArguments, scope="trade:live")
def handler(arguments: ExecuteLiveTradeArguments, call: Call) -> ExecuteLiveTradeResult:
    """Written down before it is sent; see `satchel.trading.live`."""
    request = arguments.to_request()
    trade = live_wiring.live_desk(call).trade(request, confirm_token=arguments.confirm_token)
    return ExecuteLiveTradeResult.of(trade)
