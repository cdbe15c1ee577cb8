"""`live_order`: an order on a real exchange as it is now, cancelled if that is asked for."""

from satchel import live_wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.live import LiveOrderArguments, LiveOrderOut, LiveOrderResult


@tool("live_order", LiveOrderArguments, scope="trade:live")
def handler(arguments: LiveOrderArguments, call: Call) -> LiveOrderResult:
    """Looked up by our own id."""
    order = live_wiring.live_desk(call).order(arguments.client_order_id, cancel=arguments.cancel)
    return LiveOrderResult(order=LiveOrderOut.of(order))
