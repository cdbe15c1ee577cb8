"""What was taken out of an answer, and why.

Pure.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from heapq import nlargest
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from satchel.filtering.json_values import Path, is_array, is_object, size_bytes

Reason = Literal[
    "keyword_score_below_threshold",
    "llm_relevance_low",
    "exceeded_max_results",
    "filtered_out",
    "field_not_relevant",
    "exceeded_max_fields",
    "exceeded_max_depth",
    "summarized",
]
NEAR_MISSES = 3
# What nothing points to has a score of 0; this is the least that is told apart from it.
LEAST_SCORE = 0.0001
_BRIEF_BYTES = 300
_BRIEF_CHARS = 120
_BRIEF_FIELDS = 8


class Removal(NamedTuple):
    """One thing that was removed.

    A named tuple, since a large array makes many of them.

    Attributes:
        path: Where it was in the answer, as keys and indices.
        item: What it was.
        reason: Why.
        score: Its score; bigger is better.
        threshold: The score that it did not reach, or did not pass where the places were taken; None where the score
            did not decide.
        nested: Whether it was inside an item that was kept; such ones are not part of the answer's own count.
    """

    path: Path
    item: Any
    reason: Reason
    score: float
    threshold: float | None
    nested: bool = False


_REASON, _SCORE, _NESTED = map(attrgetter, ("reason", "score", "nested"))


def near_misses(removed: Iterable[Removal], most: int = NEAR_MISSES) -> list[Removal]:
    """The best-scored of what was removed, best first, ties in order of removal."""
    return nlargest(most, removed, key=_SCORE)


def count_by_reason(removed: Collection[Removal]) -> dict[str, int]:
    """How many were removed for each reason, nested ones apart; sorted by reason."""
    own = removed if not any(map(_NESTED, removed)) else [removal for removal in removed if not removal.nested]
    return dict(sorted(Counter(map(_REASON, own)).items()))


def mean_score(removed: Collection[Removal]) -> float | None:
    """The mean score of what was removed; None where nothing was."""
    return round(sum(removal.score for removal in removed) / len(removed), 4) if removed else None


def brief(item: Any) -> Any:
    """An item small enough to be shown beside the answer: itself up to 300 bytes, else its first fields, cut."""
    if isinstance(item, str):
        return item if len(item) <= _BRIEF_CHARS else item[:_BRIEF_CHARS] + "…"
    if is_object(item):
        if len(item) <= _BRIEF_FIELDS and size_bytes(item) <= _BRIEF_BYTES:
            return item
        scalars = [(key, value) for key, value in item.items() if not is_object(value) and not is_array(value)]
        return {key: brief(value) for key, value in scalars[:_BRIEF_FIELDS]}
    if is_array(item):
        return item if size_bytes(item) <= _BRIEF_BYTES else f"{len(item)} items"
    return item
