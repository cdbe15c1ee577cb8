"""`list_orders`: orders of a trading account, newest first."""

from satchel import desk_wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.trading import ListOrdersArguments, ListOrdersResult, OrderOut


@tool("list_orders", ListOrdersArguments, scope="trade:read")
def handler(arguments: ListOrdersArguments, call: Call) -> ListOrdersResult:
    """One page of them."""
    store = desk_wiring.trading_store(call.user_id)
    account = store.account(arguments.account)
    orders = store.orders(
        arguments.account,
        status=arguments.status,
        before=int(arguments.before) if arguments.before else None,
        limit=arguments.limit + 1,
    )
    page = [OrderOut.of(order) for order in orders[: arguments.limit]]
    more = page[-1].order_id if len(orders) > arguments.limit else None
    return ListOrdersResult(account=account.account, mode=account.mode, orders=page, next=more)
