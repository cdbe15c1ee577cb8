"""A whole answer cut to what matters: arrays inside their envelope, objects by field, long text by kind.

Pure. What a strategy does is in `array_filter`, `object_filter` and `text_summary`; here it is decided which applies.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from itertools import repeat
from typing import Any

from satchel.filtering.array_filter import Judge, select
from satchel.filtering.intent import Intent
from satchel.filtering.json_values import MAX_DEPTH, Path, is_array, is_object, minified, size_bytes
from satchel.filtering.object_filter import FieldLimits, select_fields
from satchel.filtering.removal import Removal
from satchel.filtering.tabular import as_table
from satchel.filtering.text_summary import Summariser, summarise
from satchel.filtering.tool_profiles import ToolProfile

_ENVELOPE_DEPTH = 6
_EXCERPT_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class FilterOptions:
    """How one answer is filtered.

    Attributes:
        limits: How objects are cut.
        confidence_threshold: Overrides the profile's, in [0, 1].
        text_threshold_chars: Overrides the profile's.
        table: Whether uniform flat rows come back as a header and rows.
    """

    limits: FieldLimits = field(default_factory=FieldLimits)
    confidence_threshold: float | None = None
    text_threshold_chars: int | None = None
    table: bool = False


@dataclass(slots=True)
class Outcome:
    """An answer after filtering.

    Attributes:
        data: What is left.
        total: Items of the arrays that were filtered, fields of an object, units of a text.
        kept: How many of them are left.
        removed: What was taken out, best first within each array.
        strategy: What was done, such as `array:bm25+filters`, `object`, `text:log` or `none`.
        reduction: Share that was taken out, in [0, 1].
    """

    data: Any
    total: int = 0
    kept: int = 0
    removed: list[Removal] = field(default_factory=list[Removal])
    strategy: str = "none"
    reduction: float = 0.0


@dataclass(slots=True)
class PayloadFilter:
    """Filters answers to one intent.

    Attributes:
        intent: What is wanted.
        profile: The kind of tool.
        options: How to filter.
        judge: Asks a language model about items; None without one.
        summariser: Asks a language model for a summary; None without one.
        clean: Redacts a text before it is cut, so that no half of a secret escapes detection.
        today: Day that relative dates count from.
    """

    intent: Intent
    profile: ToolProfile
    options: FilterOptions = field(default_factory=FilterOptions)
    judge: Judge | None = None
    summariser: Summariser | None = None
    clean: Callable[[str], str] = str
    today: date | None = None

    def filter(self, response: Any) -> Outcome:
        """Cuts `response`; numbers, booleans, null and short text come back unchanged."""
        if is_array(response):
            return self._array(response)
        if is_object(response):
            return self._object(response)
        if isinstance(response, str):
            return self._string(response)
        return Outcome(response)

    def _array(self, items: list[Any]) -> Outcome:
        if not items:
            return Outcome(items, strategy="array")
        removed: list[Removal] = []
        kept, strategy = self._select(items, (), removed, nested=False)
        data: Any = kept
        if self.options.table:
            data = as_table(kept) or kept
        return Outcome(data, len(items), len(kept), removed, f"array:{strategy}", 1 - len(kept) / len(items))

    def _select(self, items: list[Any], path: Path, removed: list[Removal], *, nested: bool) -> tuple[list[Any], str]:
        selection = select(
            items,
            self.intent,
            self.profile,
            confidence_threshold=self.options.confidence_threshold,
            judge=None if nested else self.judge,
            today=self.today,
        )
        for reason, threshold, places, scores in selection.cuts:
            removed += map(  # a large array makes many: no loop in Python
                Removal,
                zip(*map(repeat, path), places, strict=False),
                map(items.__getitem__, places),
                repeat(reason),
                map(scores.__getitem__, places),
                repeat(threshold),
                repeat(nested),
            )
        kept = [self._shrink(items[index], (*path, index), removed) for index in selection.kept]
        return kept, selection.strategy

    def _shrink(self, value: Any, path: Path, removed: list[Removal]) -> Any:
        """An item that is kept, its own long arrays filtered too."""
        if len(path) > MAX_DEPTH:
            return value
        if is_object(value):
            if not any(isinstance(inner, dict | list) for inner in value.values()):
                return value
            return {key: self._shrink(inner, (*path, key), removed) for key, inner in value.items()}
        if is_array(value):
            if len(value) > self.intent.max_results:
                return self._select(value, path, removed, nested=True)[0]
            return [self._shrink(inner, (*path, index), removed) for index, inner in enumerate(value)]
        return value

    def _object(self, value: dict[str, Any]) -> Outcome:
        before = size_bytes(value)
        if _has_long_array(value, self.intent.max_results, _ENVELOPE_DEPTH):
            outcome = Outcome(None, strategy="envelope")
            outcome.data = self._envelope(value, (), outcome)
        else:
            selection = select_fields(value, self.intent, self.profile, self.options.limits)
            kept = selection.total - len(selection.removed)
            outcome = Outcome(selection.data, selection.total, kept, list(selection.removed), "object")
            outcome.data = self._long_strings(outcome.data, (), outcome)
        outcome.reduction = max(0.0, 1 - size_bytes(outcome.data) / before)
        return outcome

    def _envelope(self, value: Any, path: Path, outcome: Outcome) -> Any:
        if is_object(value) and len(path) < _ENVELOPE_DEPTH:
            return {key: self._envelope(inner, (*path, key), outcome) for key, inner in value.items()}
        if is_array(value) and len(value) > self.intent.max_results:
            kept, strategy = self._select(value, path, outcome.removed, nested=False)
            outcome.total += len(value)
            outcome.kept += len(kept)
            outcome.strategy = f"envelope:{strategy}"
            return kept
        if isinstance(value, str):
            return self._long_strings(value, path, outcome)
        return value

    def _long_strings(self, value: Any, path: Path, outcome: Outcome) -> Any:
        if is_object(value) and len(path) <= MAX_DEPTH:
            return {key: self._long_strings(inner, (*path, key), outcome) for key, inner in value.items()}
        if isinstance(value, str) and len(value) > self._threshold():
            text = self._summarised(value)
            removal = Removal(path, value[:_EXCERPT_CHARS], "summarized", 0.0, None, nested=True)
            outcome.removed.append(removal)
            return text.data
        return value

    def _string(self, text: str) -> Outcome:
        if text[:1_000].lstrip()[:1] in ("[", "{"):
            inner = _json_inside(text)
            if inner is not None:
                outcome = self.filter(inner)
                outcome.data = minified(outcome.data) if outcome.removed else text
                return outcome
        if len(text) <= self._threshold():
            return Outcome(text, strategy="none")
        return self._summarised(text)

    def _summarised(self, text: str) -> Outcome:
        cleaned = self.clean(text)
        summary = summarise(cleaned, self.intent, self.profile)
        written = self.summariser(cleaned, self.intent) if self.summariser is not None else None
        data = summary.text if written is None else written
        if len(data) >= len(text):
            return Outcome(text, strategy="none")
        removed = [
            Removal((summary.kind, place), unit, "summarized", score, None)
            for place, (unit, score) in enumerate(summary.removed)
        ]
        strategy = f"text:{summary.kind}" + ("" if written is None else "+llm")
        kept = summary.total - len(removed)
        return Outcome(data, summary.total, kept, removed, strategy, 1 - len(data) / len(text))

    def _threshold(self) -> int:
        return self.options.text_threshold_chars or self.profile.text_threshold_chars


def _has_long_array(value: dict[str, Any], length: int, depth: int) -> bool:
    return any(
        (is_array(inner) and len(inner) > length)
        or (depth > 0 and is_object(inner) and _has_long_array(inner, length, depth - 1))
        for inner in value.values()
    )


def _json_inside(text: str) -> Any:
    try:
        inner = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return inner if is_array(inner) or is_object(inner) else None
