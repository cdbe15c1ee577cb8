"""`write_strategy`: keep a strategy's code as a new version."""

from satchel import desk_wiring, wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.strategies import WriteStrategyArguments, WriteStrategyResult
from satchel.strategies.versions import write_strategy


@tool("write_strategy", WriteStrategyArguments, scope="context:write")
def handler(arguments: WriteStrategyArguments, call: Call) -> WriteStrategyResult:
    """Check and store it; see `satchel.strategies.versions`."""
    version, changed = write_strategy(
        arguments.name, arguments.code, store=desk_wiring.strategy_store(call.user_id), clock=wiring.clock
    )
    return WriteStrategyResult.of(version, changed=changed)
