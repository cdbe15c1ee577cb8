"""`read_strategy`: the code of a strategy."""

from satchel import desk_wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.strategies import ReadStrategyArguments, ReadStrategyResult
from satchel.strategies.results import find_version


@tool("read_strategy", ReadStrategyArguments, scope="context:read")
def handler(arguments: ReadStrategyArguments, call: Call) -> ReadStrategyResult:
    """One version of it, the current one unless another is named."""
    store = desk_wiring.strategy_store(call.user_id)
    return ReadStrategyResult.of(find_version(arguments.name, arguments.version, store=store))
