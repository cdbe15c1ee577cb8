"""`context://workspace-state`: the chart, watchlist, positions and alerts, as the document's object."""

from satchel import wiring
from satchel.api.handler import Call, Content, resource


@resource("workspace_state", "context://workspace-state")
def handler(_variables: dict[str, str], call: Call) -> Content:
    """The stored workspace; reading changes nothing."""
    return Content(wiring.workspace_store(call.user_id).workspace().text, "application/json")
