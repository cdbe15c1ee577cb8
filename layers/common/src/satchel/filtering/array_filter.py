"""Which items of an array are kept.

Pure: a judge that asks a language model is handed in.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

from satchel.filtering import facets, ranking
from satchel.filtering.intent import Intent
from satchel.filtering.json_values import is_object
from satchel.filtering.removal import LEAST_SCORE, Reason
from satchel.filtering.tool_profiles import ToolProfile

RERANKED = 30
JUDGE_BATCH = 40
MAX_JUDGED = 120
LLM_THRESHOLD = 0.5

# Gives each item a relevance in [0, 1], or None where it could not be asked.
Judge = Callable[[Sequence[Any], Intent], Sequence[float] | None]


class Verdict(NamedTuple):
    """What was decided of one item that was removed."""

    place: int
    reason: Reason
    score: float
    threshold: float | None


class Cut(NamedTuple):
    """Items that were removed for one reason.

    Attributes:
        reason: Why.
        threshold: The score that they did not reach, or did not pass where the places were taken; None where the
            score did not decide.
        places: Their indices, best first.
        scores: Score by index.
    """

    reason: Reason
    threshold: float | None
    places: Sequence[int]
    scores: Sequence[float] | Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Selection:
    """What is kept of an array.

    Attributes:
        kept: Indices of the items kept, best first.
        cuts: All others, by reason.
        scores: Score of each item, by index.
        strategy: How the order was found: `bm25`, with `+filters`, `+chat` and `+llm` where those took part.
    """

    kept: list[int]
    cuts: list[Cut]
    scores: list[float]
    strategy: str

    @property
    def removed(self) -> list[Verdict]:
        """The verdict on each item that was removed, best first for each reason."""
        return [
            Verdict(place, cut.reason, cut.scores[place], cut.threshold) for cut in self.cuts for place in cut.places
        ]


def select(
    items: Sequence[Any],
    intent: Intent,
    profile: ToolProfile,
    *,
    confidence_threshold: float | None = None,
    judge: Judge | None = None,
    today: date | None = None,
) -> Selection:
    """Keeps the best `intent.max_results` items.

    An array that is short enough is only put in order. Items without a score are removed even where places are left,
    unless the intent is too uncertain to judge by, or nothing in the array answers to it at all.

    Args:
        items: The array.
        intent: What is wanted; filters under `required` are hard, all others only lift.
        profile: The kind of tool.
        confidence_threshold: Overrides the profile's.
        judge: Asks a language model: it reranks the best 30, and fills places that are left from the rest.
        today: Day that relative dates count from.
    """
    ranked = ranking.rank(items, intent, profile, today=today)
    scores, order = ranked.scores, ranked.order
    strategy = "bm25" + ("+filters" if ranked.conditions else "") + ("+chat" if ranked.is_chat else "")
    refused = _refused(items, intent.filters.get("required"), profile)
    order = [index for index in order if index not in refused]
    best = max((scores[index] for index in order), default=0.0)
    sure = intent.confidence >= (profile.confidence_threshold if confidence_threshold is None else confidence_threshold)
    threshold = max(profile.score_threshold * best, LEAST_SCORE)
    matching, unmatched = order, list[int]()
    if best > 0 and sure and len(order) > intent.max_results:
        reached = bisect_right(order, -threshold, key=lambda index: -scores[index])  # the order is by score
        matching, unmatched = order[:reached], order[reached:]
    accepted, rejected = dict[int, float](), dict[int, float]()
    if judge is not None and order:
        strategy += "+llm"
        matching, unmatched, accepted, rejected = _judged(items, matching, unmatched, intent, judge)
    kept, beyond = matching[: intent.max_results], matching[intent.max_results :]
    cuts = [
        *_beyond(kept, [index for index in beyond if index in accepted], accepted),  # by the model's scores
        *_beyond(kept, [index for index in beyond if index not in accepted], scores),
        Cut("keyword_score_below_threshold", threshold, unmatched, scores),
        Cut("llm_relevance_low", LLM_THRESHOLD, list(rejected), rejected),
        Cut("filtered_out", None, sorted(refused), scores),
    ]
    return Selection(kept, [cut for cut in cuts if cut.places], scores, strategy)


def _beyond(kept: Sequence[int], places: Sequence[int], scores: Sequence[float] | Mapping[int, float]) -> Iterator[Cut]:
    """The cut of what answers and found no place, by one kind of score; nothing where that is empty."""
    if places:
        known = [scores[index] for index in kept if not isinstance(scores, Mapping) or index in scores]
        yield Cut("exceeded_max_results", min(known, default=None), places, scores)


def _refused(items: Sequence[Any], required: Any, profile: ToolProfile) -> set[int]:
    if not is_object(required):
        return set()
    conditions = facets.asked_filters(facets.Table(items), _wanted(required), profile.filter_columns)
    return {index for condition in conditions for index, met in enumerate(condition.met) if not met}


def _wanted(required: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in required.items() if name != "required"}


def _judged(
    items: Sequence[Any], matching: list[int], unmatched: list[int], intent: Intent, judge: Judge
) -> tuple[list[int], list[int], dict[int, float], dict[int, float]]:
    """What answers, best first, what does not, and the model's scores of those it took and of those it rejected."""
    head = matching[:RERANKED]
    verdicts = judge([items[index] for index in head], intent) if head else None
    accepted: dict[int, float] = {}
    if verdicts is not None:
        accepted = dict(zip(head, verdicts, strict=True))
        place = {index: (-round(score, 6), at) for at, (index, score) in enumerate(zip(head, verdicts, strict=True))}
        matching = sorted(head, key=place.__getitem__) + matching[RERANKED:]
    rejected: dict[int, float] = {}
    asked = 0
    while len(matching) < intent.max_results and unmatched and asked < MAX_JUDGED:
        batch, rest = unmatched[:JUDGE_BATCH], unmatched[JUDGE_BATCH:]
        verdicts = judge([items[index] for index in batch], intent)
        if verdicts is None:
            break
        asked += len(batch)
        unmatched = rest
        scored = sorted(zip(batch, verdicts, strict=True), key=lambda pair: -pair[1])
        matching = matching + [index for index, score in scored if score >= LLM_THRESHOLD]
        accepted |= {index: score for index, score in scored if score >= LLM_THRESHOLD}
        rejected |= {index: score for index, score in scored if score < LLM_THRESHOLD}
    return matching, unmatched, accepted, rejected
