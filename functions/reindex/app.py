"""`reindex`: embed the messages of all users that no encoder, or another one, has read."""

from collections.abc import Callable
from typing import Any

from satchel import wiring
from satchel.api.job import job
from satchel.memory.indexing import reindex_all
from satchel.memory.users import all_users

_RESERVE_MS = 60_000
"""Enough for the longest message, if that is being encoded when time runs short."""


@job("reindex")
def handler(remaining_ms: Callable[[], int]) -> dict[str, Any]:
    """Work until nothing is left or time runs short; see `satchel.memory.indexing`."""
    done, complete = reindex_all(
        all_users(wiring.database()),
        store_of=wiring.search_store,
        encoder=wiring.encoder(),
        has_time=lambda: remaining_ms() > _RESERVE_MS,
    )
    return {"messages": done, "complete": complete}
