import json
from decimal import Decimal

from satchel.workspace.merging import merge_workspace

STORED = (
    '{"currentChart": null, "watchlist": ["ETH/USDT"], "openPositions": [{"ticker": "ETH/USDT", "side": "long", '
    '"size": 0.00000001, "entryPrice": 2000.10}, {"ticker": "BTC/USDT", "side": "long", "size": 9, "entryPrice": 1}], '
    '"recentAlerts": [{"type": "old", "message": "m", "timestamp": "2025-01-01T00:00:00Z"}]}'
)
POSITION = {"ticker": "BTC/USDT", "side": "long", "size": Decimal("0.1"), "entryPrice": Decimal("1E-8")}


def test_the_desks_positions_come_first_and_stand_for_the_clients_in_the_same_ticker():
    state = json.loads(merge_workspace(STORED, [POSITION], []), parse_float=str)
    assert [(item["ticker"], item["size"]) for item in state["openPositions"]] == [
        ("BTC/USDT", "0.1"),
        ("ETH/USDT", "0.00000001"),
    ]
    assert state["openPositions"][0]["entryPrice"] == "0.00000001"
    assert state["openPositions"][1]["entryPrice"] == "2000.10"
    assert list(state) == ["currentChart", "watchlist", "openPositions", "recentAlerts"]


def test_the_desks_alerts_come_first_and_only_so_many_are_kept():
    alerts = [{"type": "new", "message": f"긴급 {n} 😀", "timestamp": "t"} for n in range(30)]
    state = json.loads(merge_workspace(STORED, [], alerts))
    assert [alert["message"] for alert in state["recentAlerts"]] == [f"긴급 {n} 😀" for n in range(20)]


def test_where_the_desk_has_nothing_the_text_is_the_clients_own():
    assert merge_workspace(STORED, [], []) is STORED
