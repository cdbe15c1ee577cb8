"""`context://strategy/{name}`: a strategy with its history and latest backtests."""

from satchel import desk_wiring
from satchel.api.handler import Call, Content, resource
from satchel.strategies.results import read_strategy_context


@resource("strategy_context", "context://strategy/{name}{?version}")
def handler(variables: dict[str, str], call: Call) -> Content:
    """The strategy as JSON."""
    store = desk_wiring.strategy_store(call.user_id)
    text = read_strategy_context(variables["name"], version=variables.get("version", ""), store=store)
    return Content(text, "application/json")
