"""`get_positions`: the open positions of a trading account."""

from satchel import desk_wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.accounts import GetPositionsResult, PositionOut
from satchel.api.wire.amounts import AccountArguments
from satchel.trading.positions import position_of


@tool("get_positions", AccountArguments, scope="trade:read")
def handler(arguments: AccountArguments, call: Call) -> GetPositionsResult:
    """Positions by ticker."""
    store = desk_wiring.trading_store(call.user_id)
    account = store.account(arguments.account)
    positions = [PositionOut.of(position_of(row)) for row in store.positions(arguments.account)]
    return GetPositionsResult(account=account.account, mode=account.mode, positions=positions)
