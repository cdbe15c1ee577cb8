"""`cancel_order`: cancel a resting order."""

from satchel import desk_wiring, wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.trading import OrderArguments, OrderResult
from satchel.trading.exchange import cancel


@tool("cancel_order", OrderArguments, scope="trade:paper")
def handler(arguments: OrderArguments, call: Call) -> OrderResult:
    """The order, cancelled."""
    with desk_wiring.trading_store(call.user_id).open(arguments.account) as session:
        order = cancel(session, int(arguments.order_id), wiring.clock())
    return OrderResult.of(order, [])
