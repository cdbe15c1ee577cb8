"""The workspace as it is read: what the client synchronised, and what the desk knows better."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, cast

import simplejson

# Newest first; a model needs no more of the past than this.
MAX_ALERTS = 20


def merge_workspace(text: str, positions: Sequence[Mapping[str, Any]], alerts: Sequence[Mapping[str, Any]]) -> str:
    """The workspace with the desk's positions and alerts in front of the client's.

    A position of the client's in a ticker that the desk holds as well is left out: the desk's own is the newer one.

    Args:
        text: The stored workspace, a JSON object.
        positions: In the document's fields, amounts as `Decimal`.
        alerts: In the document's fields, newest first.

    Returns:
        JSON with every number as it is, without exponent; `text` itself where the desk has nothing.
    """
    if not positions and not alerts:
        return text
    state: dict[str, Any] = simplejson.loads(text, use_decimal=True)
    held = {position["ticker"] for position in positions}
    state["openPositions"] = [*positions, *(item for item in state["openPositions"] if item["ticker"] not in held)]
    state["recentAlerts"] = [*alerts, *state["recentAlerts"]][:MAX_ALERTS]
    return simplejson.dumps(_written(state), ensure_ascii=False)


def _written(value: Any) -> Any:
    """`value` with decimals as raw JSON numbers: a decimal's own text may have an exponent."""
    if isinstance(value, Decimal):
        return simplejson.RawJSON(format(value, "f"))
    if isinstance(value, list | tuple):
        return [_written(item) for item in cast("Sequence[Any]", value)]
    if isinstance(value, dict):
        return {key: _written(item) for key, item in cast("dict[str, Any]", value).items()}
    return value
