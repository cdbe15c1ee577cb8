"""`get_order`: one order with its fills."""

from satchel import desk_wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.trading import OrderArguments, OrderResult


@tool("get_order", OrderArguments, scope="trade:read")
def handler(arguments: OrderArguments, call: Call) -> OrderResult:
    """The order, by an id of which every digit counts."""
    order, fills = desk_wiring.trading_store(call.user_id).order(arguments.account, int(arguments.order_id))
    return OrderResult.of(order, fills)
