"""`context://workspace-state`: the chart, watchlist, positions and alerts, as the document's object."""

from satchel import desk_wiring, wiring
from satchel.api.handler import Call, Content, resource
from satchel.timestamps import format_timestamp
from satchel.trading.account import PAPER
from satchel.trading.positions import position_of
from satchel.workspace.merging import MAX_ALERTS, merge_workspace


@resource("workspace_state", "context://workspace-state")
def handler(_variables: dict[str, str], call: Call) -> Content:
    """The stored workspace with the paper account's positions and alerts; reading changes nothing."""
    stored = wiring.workspace_store(call.user_id).workspace().text
    desk = desk_wiring.trading_store(call.user_id)
    positions = [position_of(row).as_numbers() for row in desk.positions(PAPER)]
    alerts = [
        {"type": row["type"], "message": row["message"], "timestamp": format_timestamp(row["created_at"])}
        for row in desk.alerts(MAX_ALERTS)
    ]
    return Content(merge_workspace(stored, positions, alerts), "application/json")
