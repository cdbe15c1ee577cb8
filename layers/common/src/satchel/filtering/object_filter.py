"""Which fields of an object are kept.

Pure. A field is scored by its name and its value; always-kept fields and the ones that say whether an answer is whole
stay whatever their score.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Any

from satchel.filtering import lexical, terms, words
from satchel.filtering.intent import Intent
from satchel.filtering.json_values import Path, is_array, is_object, size_bytes
from satchel.filtering.removal import LEAST_SCORE, Reason, Removal
from satchel.filtering.tool_profiles import ToolProfile

DEFAULT_MAX_FIELDS = 20
DEFAULT_MAX_DEPTH = 10
SMALL_FIELDS = 10
SMALL_BYTES = 1_000
NAME_WEIGHT = 2.0
# Fields that tell a reader whether the answer is whole, right and whose it is.
ENVELOPE_FIELDS = frozenset(
    """
    total total_count count size status ok error errors message warning warnings code next_cursor nextcursor
    cursor next next_page has_more hasmore truncated partial is_partial incomplete incomplete_results page pages
    source attribution license is_error iserror response_metadata
    """.split()  # noqa: SIM905 - a list of hundreds of quoted words would be hard to read
)


@dataclass(frozen=True, slots=True)
class FieldLimits:
    """How an object is cut.

    Attributes:
        preserve: Names or dotted paths of fields that are kept whatever their score.
        max_depth: Objects nested deeper are removed, counted from 1 for the answer itself.
        max_fields: How many leaf fields are kept at most, always-kept ones aside.
        forced: Whether small objects are cut too, because the caller set a limit.
    """

    preserve: frozenset[str] = frozenset()
    max_depth: int = DEFAULT_MAX_DEPTH
    max_fields: int = DEFAULT_MAX_FIELDS
    forced: bool = False


@dataclass(frozen=True, slots=True)
class FieldSelection:
    """What is kept of an object.

    Attributes:
        data: The object without the removed fields.
        total: Leaf fields before.
        removed: One removal for each leaf field taken out.
    """

    data: dict[str, Any]
    total: int
    removed: list[Removal]


def _leaves(value: Any, path: Path, max_depth: int) -> Iterator[tuple[Path, Any]]:
    if is_object(value) and value and len(path) < max_depth:
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key), max_depth)
    else:
        yield path, value


def select_fields(value: dict[str, Any], intent: Intent, profile: ToolProfile, limits: FieldLimits) -> FieldSelection:
    """Keeps the fields of `value` that answer to `intent`.

    Where no field answers to it, all are kept, up to the limits. Fields keep their order.
    """
    leaves = list(_leaves(value, (), limits.max_depth))
    deep = [is_object(leaf) and bool(leaf) for _, leaf in leaves]
    if not limits.forced and len(leaves) <= SMALL_FIELDS and not any(deep) and size_bytes(value) <= SMALL_BYTES:
        return FieldSelection(value, len(leaves), [])
    scores = _scores(leaves, intent, profile)
    always = [_is_kept(path, limits.preserve, profile) for path, _ in leaves]
    # Without a score anywhere there is nothing to judge by.
    judged = any(score > 0 and not kept for score, kept in zip(scores, always, strict=True))
    open_places = [i for i in range(len(leaves)) if not always[i] and not deep[i] and (scores[i] > 0 or not judged)]
    best = set(nlargest(limits.max_fields, open_places, key=lambda i: (scores[i], -i)))
    least = min((scores[i] for i in best), default=0.0)
    removed: list[Removal] = []
    kept_paths: list[Path] = []
    for i, (path, leaf) in enumerate(leaves):
        if always[i] or i in best:
            kept_paths.append(path)
            continue
        reason: Reason = (
            "exceeded_max_depth"
            if deep[i]
            else "exceeded_max_fields"
            if scores[i] > 0 or not judged
            else "field_not_relevant"
        )
        thresholds = {"exceeded_max_depth": None, "field_not_relevant": max(least, LEAST_SCORE)}
        removed.append(Removal(path, leaf, reason, scores[i], thresholds.get(reason, least)))
    if not removed:
        return FieldSelection(value, len(leaves), [])
    return FieldSelection(_keep(value, set(kept_paths), ()), len(leaves), removed)


def _scores(leaves: Sequence[tuple[Path, Any]], intent: Intent, profile: ToolProfile) -> list[float]:
    wanted = terms.of_intent(intent.keywords, intent.intent, profile.keyword_weights, profile.generic_words)
    names = [" ".join(str(part) for part in path).replace("_", " ") for path, _ in leaves]
    asked_columns = intent.filters.get("columns")
    columns = {str(name).lower() for name in asked_columns} if is_array(asked_columns) else set[str]()
    by_name = lexical.corpus(names, lambda _name: 1.0)
    by_value = lexical.corpus([leaf for _, leaf in leaves], profile.field_weight)
    name_scores = lexical.bm25(by_name, wanted, lexical.scan(by_name, wanted))
    value_scores = lexical.bm25(by_value, wanted, lexical.scan(by_value, wanted))
    return [
        NAME_WEIGHT * name + value + (NAME_WEIGHT if str(path[-1] if path else "").lower() in columns else 0.0)
        for (path, _), name, value in zip(leaves, name_scores, value_scores, strict=True)
    ]


def _is_kept(path: Path, preserve: frozenset[str], profile: ToolProfile) -> bool:
    name = str(path[-1]) if path else ""
    dotted = ".".join(map(str, path))
    lower = name.lower()
    return (
        any(_covers(kept, dotted, name) for kept in preserve)
        or (len(path) == 1 and (lower in profile.always_keep or lower in ENVELOPE_FIELDS))
        or "".join(words.parts(name)) in {"id", "timestamp"}
    )


def _covers(kept: str, dotted: str, name: str) -> bool:
    return kept in (dotted, name) or dotted.startswith(kept + ".")


def _keep(value: dict[str, Any], kept: set[Path], path: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, inner in value.items():
        here = (*path, key)
        if here in kept:
            found[key] = inner
        elif is_object(inner) and inner:
            nested = _keep(inner, kept, here)
            if nested:
                found[key] = nested
    return found
