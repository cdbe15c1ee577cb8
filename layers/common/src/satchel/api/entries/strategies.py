"""The tools that keep and test strategies, and what can be read of them."""

from satchel.api.catalogue import Catalogue
from satchel.api.entry import Hints, TemplateEntry, ToolEntry
from satchel.api.wire.strategies import (
    ListStrategiesResult,
    NoArguments,
    ReadStrategyArguments,
    ReadStrategyResult,
    RunBacktestArguments,
    RunBacktestResult,
    WriteStrategyArguments,
    WriteStrategyResult,
)

ENTRIES = Catalogue(
    tools=(
        ToolEntry(
            name="list_strategies",
            title="List strategies",
            description="List the user's trading strategies with their parameters.",
            arguments=NoArguments,
            result=ListStrategiesResult,
            scope="context:read",
            function="list_strategies",
            hints=Hints(read_only=True, idempotent=True),
        ),
        ToolEntry(
            name="read_strategy",
            title="Read a strategy",
            description="Read the code of a strategy, the current version or an earlier one.",
            arguments=ReadStrategyArguments,
            result=ReadStrategyResult,
            scope="context:read",
            function="read_strategy",
            hints=Hints(read_only=True, idempotent=True),
        ),
        ToolEntry(
            name="write_strategy",
            title="Write a strategy",
            description=(
                "Save a strategy's code as a new version; earlier ones are kept. The code is checked, not run: what "
                "breaks the contract or reads later bars is refused with its line. It may use backtesting, numpy, "
                "pandas and pandas_ta_classic; load volumes as float64 or int64."
            ),
            arguments=WriteStrategyArguments,
            result=WriteStrategyResult,
            scope="context:write",
            function="write_strategy",
            hints=Hints(idempotent=True),
        ),
        ToolEntry(
            name="run_backtest",
            title="Run a backtest",
            description=(
                "Run a stored strategy over past bars. Orders fill at the next bar's open. The strategy is checked for "
                "look-ahead by changing the future. All trades and the equity curve are under results_uri. A long run "
                "answers a job_id: read context://job/{job_id}."
            ),
            arguments=RunBacktestArguments,
            result=RunBacktestResult,
            scope="sandbox:run",
            function="run_backtest",
            timeout_s=28.0,
            paged_uri="context://backtest/{backtest_id}/results",
        ),
    ),
    templates=(
        TemplateEntry(
            uri_template="context://strategy/{name}{?version}",
            name="Strategy Context",
            description="A strategy: its code, what changed, its history and its latest backtests.",
            mime_type="application/json",
            function="strategy_context",
        ),
        TemplateEntry(
            uri_template="context://backtest/{backtest_id}/results{?section,cursor,limit}",
            name="Backtest results",
            description="A backtest page by page: the report; section=trades, equity or chart (a PNG).",
            mime_type="application/json",
            function="backtest_results",
        ),
        TemplateEntry(
            uri_template="context://job/{job_id}",
            name="Job",
            description="How far a job is, and, when it is done, where its result can be read.",
            mime_type="application/json",
            function="job",
        ),
    ),
)
