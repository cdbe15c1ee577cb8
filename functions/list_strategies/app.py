"""`list_strategies`: the user's strategies by name."""

from satchel import desk_wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.strategies import ListStrategiesResult, NoArguments


@tool("list_strategies", NoArguments, scope="context:read")
def handler(_arguments: NoArguments, call: Call) -> ListStrategiesResult:
    """The current version of every strategy."""
    return ListStrategiesResult.of(desk_wiring.strategy_store(call.user_id).current())
