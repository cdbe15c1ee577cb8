"""`execute_trade`: preview an order, or place it."""

from satchel import desk_wiring, wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.trading import ExecuteTradeArguments, ExecuteTradeResult
from satchel.trading.exchange import told, trade
from satchel.trading.store import Asking


@tool("execute_trade", ExecuteTradeArguments, scope="trade:paper")
def handler(arguments: ExecuteTradeArguments, call: Call) -> ExecuteTradeResult:
    """One transaction under the account's lock; a refusal is told after what it left is kept."""
    request = arguments.to_request()
    now = wiring.clock()
    ahead = Asking(request.symbol, request.client_order_id, now)
    with desk_wiring.market(call.user_id).open(arguments.account, ahead=ahead) as session:
        result = trade(
            session,
            request,
            confirm_token=arguments.confirm_token,
            new_token=desk_wiring.new_token,
            now=now,
        )
    return ExecuteTradeResult.of(told(result))
