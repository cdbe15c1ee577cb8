"""`get_watchlist`: what the user watches."""

import json

from satchel import wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.accounts import GetWatchlistResult
from satchel.api.wire.strategies import NoArguments


@tool("get_watchlist", NoArguments, scope="context:read")
def handler(_arguments: NoArguments, call: Call) -> GetWatchlistResult:
    """The watchlist of the stored workspace."""
    state = json.loads(wiring.workspace_store(call.user_id).workspace().text)
    return GetWatchlistResult(watchlist=state["watchlist"])
