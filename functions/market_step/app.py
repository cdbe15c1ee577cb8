"""`market_step`: move the replay of past candles forward."""

from satchel import desk_wiring, wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.accounts import MarketStepArguments, MarketStepResult
from satchel.trading.exchange import Step, step


@tool("market_step", MarketStepArguments, scope="trade:paper")
def handler(arguments: MarketStepArguments, call: Call) -> MarketStepResult:
    """Each step is a transaction of its own: what it did stays done."""
    store = desk_wiring.trading_store(call.user_id)
    steps: list[Step] = []
    for _ in range(arguments.steps):
        with store.open(arguments.account) as session:
            steps.append(step(session, wiring.clock()))
        if not steps[-1].bars:
            break
    return MarketStepResult.of(steps)
