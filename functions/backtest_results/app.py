"""`context://backtest/{backtest_id}/results`: a backtest page by page."""

from satchel import desk_wiring
from satchel.api.handler import Call, Content, resource
from satchel.strategies.results import read_results


@resource("backtest_results", "context://backtest/{backtest_id}/results{?section,cursor,limit}")
def handler(variables: dict[str, str], call: Call) -> Content:
    """One page as JSON."""
    text = read_results(
        variables["backtest_id"],
        section=variables.get("section"),
        cursor=variables.get("cursor", ""),
        limit=variables.get("limit", ""),
        store=desk_wiring.strategy_store(call.user_id),
    )
    return Content(text, "application/json")
