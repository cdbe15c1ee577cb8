"""An answer too large to hold, filtered as it is read and told of like any other.

Pure: what yields the chunks is handed in.
"""

from collections.abc import AsyncIterable, Sequence
from typing import Any

from satchel.filtering.engine import Explain, FilteredResponse, FilterEngine
from satchel.filtering.json_values import size_bytes
from satchel.filtering.removal import mean_score, near_misses
from satchel.filtering.streaming import FilterState, StreamingFilter
from satchel.filtering.token_estimate import by_bytes

BUDGET_NOTICE = "the memory budget was reached: fewer items may be kept"


async def filter_stream(
    stream: StreamingFilter,
    chunks: AsyncIterable[Sequence[Any]],
    *,
    engine: FilterEngine,
    tool_name: str,
    size: int,
    explain: Explain = "brief",
) -> tuple[FilteredResponse, FilterState]:
    """Cuts a stream of items to what is asked for; also what was known at its end.

    Of what was removed the best is at hand: three times as many items as are kept.

    Args:
        stream: Ranks the items by what is wanted.
        chunks: The items, in pieces.
        engine: Redacts, and measures the time.
        tool_name: The tool that answered.
        size: Bytes of the whole answer.
        explain: How much of what was removed, and is at hand, is told inline.
    """
    started = engine.timer()
    final: list[Any] = []
    async for result in stream.create_filter_stream(chunks):
        final = result.chunk
    latency_ms = (engine.timer() - started) * 1_000
    state, kept = stream.state, len(final)
    removed = stream.removed()
    cleaned = engine.sanitiser.sanitise(final, tool_name=tool_name)
    shown, shown_findings = engine.explained(
        removed if explain == "full" else near_misses(removed), tool_name, whole=explain == "full"
    )
    after = size_bytes(cleaned.value)
    response = FilteredResponse(
        data=cleaned.value,
        reduction=round(1 - kept / state.processed, 6) if state.processed else 0.0,
        total=state.processed,
        kept=kept,
        removed_by_reason=stream.removed_by_reason(kept),
        removed_items=shown,
        strategy="stream:bm25",
        scoring_latency_ms=round(latency_ms, 3),
        bytes_before=size,
        bytes_after=after,
        tokens=by_bytes(size, after),
        findings=cleaned.findings,
        shown_findings=shown_findings,
        mean_score=mean_score(removed),
        notice=BUDGET_NOTICE if state.budget_exceeded else None,
        removed=removed,
    )
    return response, state
