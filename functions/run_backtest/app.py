"""`run_backtest`: what a strategy would have done."""

from satchel import desk_wiring, wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.strategies import RunBacktestArguments, RunBacktestResult
from satchel.strategies.backtest import run_backtest


@tool("run_backtest", RunBacktestArguments, scope="sandbox:run")
def handler(arguments: RunBacktestArguments, call: Call) -> RunBacktestResult:
    """Run and store it; see `satchel.strategies.backtest`."""
    backtest = run_backtest(
        arguments.to_request(),
        store=desk_wiring.strategy_store(call.user_id),
        candles=desk_wiring.candle_store(call.user_id),
        engine=desk_wiring.sandbox_engine(call.user_id),
        clock=wiring.clock,
        new_id=wiring.new_id,
    )
    return RunBacktestResult.of(backtest)
