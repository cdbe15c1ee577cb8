"""The tools that trade: the desk's own in the default set, the order book's in the set `trading`."""

from satchel.api.catalogue import Catalogue
from satchel.api.entry import Hints, ToolEntry
from satchel.api.wire.accounts import (
    ConfigureAccountArguments,
    ConfigureAccountResult,
    GetPositionsResult,
    GetWatchlistResult,
    MarketStepArguments,
    MarketStepResult,
    SetPriceAlertArguments,
    SetPriceAlertResult,
)
from satchel.api.wire.amounts import AccountArguments
from satchel.api.wire.live import (
    ExecuteLiveTradeArguments,
    ExecuteLiveTradeResult,
    LiveOrderArguments,
    LiveOrderResult,
)
from satchel.api.wire.market import FetchCandlesArguments, ImportCandlesArguments, ImportCandlesResult
from satchel.api.wire.strategies import NoArguments
from satchel.api.wire.trading import (
    ExecuteTradeArguments,
    ExecuteTradeResult,
    ListOrdersArguments,
    ListOrdersResult,
    OrderArguments,
    OrderResult,
)

# Listed only where the owner has configured a live account.
LIVE_TOOLSET = "live"
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
                "seconds. Orders fill at the next candle, and time moves only by the tool market_step (tool set "
                "trading) or `satchel market step`. Amounts are decimal text."
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
            description=(
                "Watch a price: the candle that crosses it, coming from the other side, leaves an alert in the "
                "workspace, once. A price that is passed already waits until it is crossed again."
            ),
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
        ToolEntry(
            name="fetch_candles",
            title="Fetch candles",
            description="Store past candles of an exchange, up to 20,000, for backtests and paper trading.",
            arguments=FetchCandlesArguments,
            result=ImportCandlesResult,
            scope="trade:paper",
            function="fetch_candles",
            hints=Hints(destructive=True, idempotent=True, open_world=True),
            toolset="trading",
            timeout_s=28.0,
        ),
        ToolEntry(
            name="execute_live_trade",
            title="Execute a live trade",
            description=(
                "Place an order on a real exchange with real money, in two steps: the first call answers a preview and "
                "a confirm_token; show the preview to the user, and only when they agree call again with the same "
                "arguments and the token within 60 seconds. An order of status unknown is looked up by asking again."
            ),
            arguments=ExecuteLiveTradeArguments,
            result=ExecuteLiveTradeResult,
            scope="trade:live",
            function="execute_live_trade",
            hints=Hints(destructive=True, idempotent=False, open_world=True),
            toolset=LIVE_TOOLSET,
            timeout_s=28.0,
        ),
        ToolEntry(
            name="live_order",
            title="Look up or cancel a live order",
            description="Read how an order on the real exchange stands now; cancel it if it rests and cancel is true.",
            arguments=LiveOrderArguments,
            result=LiveOrderResult,
            scope="trade:live",
            function="live_order",
            hints=Hints(destructive=True, idempotent=True, open_world=True),
            toolset=LIVE_TOOLSET,
            timeout_s=28.0,
        ),
    ),
)
