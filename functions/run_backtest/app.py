"""`run_backtest`: what a strategy would have done."""

from satchel import program_wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.strategies import BacktestJobResult, RunBacktestArguments, RunBacktestResult


@tool("run_backtest", RunBacktestArguments, scope="sandbox:run")
def handler(arguments: RunBacktestArguments, call: Call) -> RunBacktestResult | BacktestJobResult:
    """Run and store it, or make a job of it; see `satchel.strategies.backtest`."""
    answer = program_wiring.backtest_of(arguments.to_request(), call)
    return BacktestJobResult(job_id=answer) if isinstance(answer, str) else RunBacktestResult.of(answer)
