"""The tools that trade: the desk's own in the default set, the order book's in the set `trading`."""

from satchel.api.catalogue import Catalogue
from satchel.api.entry import Hints, ToolEntry
from satchel.api.wire.market import ImportCandlesArguments, ImportCandlesResult
from satchel.api.wire.strategies import NoArguments
from satchel.api.wire.trading import (
    AccountArguments,
    ConfigureAccountArguments,
    ConfigureAccountResult,
    ExecuteTradeArguments,
    ExecuteTradeResult,
    GetPositionsResult,
    GetWatchlistResult,
    ListOrdersArguments,
    ListOrdersResult,
    MarketStepArguments,
    MarketStepResult,
    OrderArguments,
    OrderResult,
    SetPriceAlertArguments,
    SetPriceAlertResult,
)

_READS = Hints(read_only=True, idempotent=True)

ENTRIES = Catalogue(
    tools=(
        ToolEntry(
            name="get_watchlist",
            title="Get the watchlist",
            description="Read the symbols the user watches, as their client last synchronised them.",
            arguments=NoArguments,
            result=GetWatchlistResult,
            scope="context:read",
            function="get_watchlist",
            hints=_READS,
        ),
        ToolEntry(
            name="get_positions",
            title="Get positions",
            description="Read the open positions of a trading account. The paper account uses no real money.",
            arguments=AccountArguments,
            result=GetPositionsResult,
            scope="trade:read",
            function="get_positions",
            hints=_READS,
        ),
        ToolEntry(
            name="execute_trade",
            title="Execute a trade",
            description=(
                "Place an order on the paper account, in two steps: the first call answers a preview and a "
                "confirm_token; show the preview, then call again with the same arguments and the token within 60 "
                "seconds. Orders fill at the next candle. Amounts are decimal text."
            ),
            arguments=ExecuteTradeArguments,
            result=ExecuteTradeResult,
            scope="trade:paper",
            function="execute_trade",
            hints=Hints(destructive=True, idempotent=False),
        ),
        ToolEntry(
            name="list_orders",
            title="List orders",
            description="List the orders of a trading account, newest first.",
            arguments=ListOrdersArguments,
            result=ListOrdersResult,
            scope="trade:read",
            function="list_orders",
            hints=_READS,
            toolset="trading",
        ),
        ToolEntry(
            name="get_order",
            title="Get an order",
            description="Read one order with its fills.",
            arguments=OrderArguments,
            result=OrderResult,
            scope="trade:read",
            function="get_order",
            hints=_READS,
            toolset="trading",
        ),
        ToolEntry(
            name="cancel_order",
            title="Cancel an order",
            description="Cancel a resting order.",
            arguments=OrderArguments,
            result=OrderResult,
            scope="trade:paper",
            function="cancel_order",
            hints=Hints(destructive=True, idempotent=True),
            toolset="trading",
        ),
        ToolEntry(
            name="set_price_alert",
            title="Set a price alert",
            description="Watch a price: the candle that reaches it leaves an alert in the workspace, once.",
            arguments=SetPriceAlertArguments,
            result=SetPriceAlertResult,
            scope="trade:paper",
            function="set_price_alert",
            hints=Hints(idempotent=True),
            toolset="trading",
        ),
        ToolEntry(
            name="configure_account",
            title="Configure the paper account",
            description="Change the paper account's rules: confirmation, fees, slippage, the guard's limits, steps.",
            arguments=ConfigureAccountArguments,
            result=ConfigureAccountResult,
            scope="trade:paper",
            function="configure_account",
            hints=Hints(destructive=True, idempotent=True),
            toolset="trading",
        ),
        ToolEntry(
            name="market_step",
            title="Step the market",
            description="Move the replay of past candles forward; the candles passed fill paper orders.",
            arguments=MarketStepArguments,
            result=MarketStepResult,
            scope="trade:paper",
            function="market_step",
            toolset="trading",
        ),
        ToolEntry(
            name="import_candles",
            title="Import candles",
            description="Store past candles of the user's own from CSV text, for backtests and paper trading.",
            arguments=ImportCandlesArguments,
            result=ImportCandlesResult,
            scope="trade:paper",
            function="import_candles",
            hints=Hints(destructive=True, idempotent=True),
            toolset="trading",
        ),
    ),
)
