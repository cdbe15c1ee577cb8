"""The response filter: intent, then the cut, then the sanitiser, then the account of what was cut.

Pure: time, the sanitiser and a language model are handed in.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal, Protocol

from satchel.filtering.array_filter import Judge
from satchel.filtering.intent import Intent
from satchel.filtering.json_values import field_path, size_bytes
from satchel.filtering.payload import FilterOptions, Outcome, PayloadFilter
from satchel.filtering.removal import Removal, brief, count_by_reason, mean_score, near_misses
from satchel.filtering.text_summary import Summariser
from satchel.filtering.token_estimate import TokenCounter, by_bytes
from satchel.filtering.tool_profiles import ToolProfile

Explain = Literal["brief", "full"]
FAILED_NOTICE = "the filter failed; this is the whole answer, sanitised"


class Cleaned(Protocol):
    """A value after redaction, and what was found in it."""

    @property
    def value(self) -> Any:
        """The value without what must not be shown."""
        ...

    @property
    def findings(self) -> Sequence[Any]:
        """What was redacted; never the value itself."""
        ...


class Sanitiser(Protocol):
    """Redacts credentials and personal data."""

    def sanitise(self, value: Any, *, tool_name: str) -> Cleaned:
        """The value, redacted at every level."""
        ...


@dataclass(frozen=True, slots=True)
class FilteredResponse:
    """An answer as it may be shown.

    Attributes:
        data: What is left of the answer.
        reduction: Share that was taken out, in [0, 1]: of items, of characters for text, of bytes for objects.
        total: How many items there were.
        kept: How many are left.
        removed_by_reason: How many were removed for each reason; with `kept` they sum to `total`.
        removed_items: What was removed, sanitised: the best near-misses, or all of it where that was asked for.
        strategy: What was done.
        scoring_latency_ms: Milliseconds that ranking and cutting took.
        bytes_before: Size as minified JSON.
        bytes_after: The same of `data`.
        tokens: Estimates before and after, and how they were made.
        findings: What the sanitiser redacted in `data`.
        shown_findings: What it redacted in `removed_items`.
        mean_score: Mean score of what was removed; None where nothing was.
        notice: A sentence where something did not go as it should; else None.
        removed: Everything that was removed, as it was: to be stored, never to be shown without sanitising.
    """

    data: Any
    reduction: float
    total: int
    kept: int
    removed_by_reason: dict[str, int]
    removed_items: list[dict[str, Any]]
    strategy: str
    scoring_latency_ms: float
    bytes_before: int
    bytes_after: int
    tokens: dict[str, Any]
    findings: Sequence[Any]
    shown_findings: Sequence[Any] = ()
    mean_score: float | None = None
    notice: str | None = None
    removed: list[Removal] = field(default_factory=list[Removal], repr=False)


@dataclass(frozen=True, slots=True)
class FilterEngine:
    """Filters answers of one kind of tool.

    Attributes:
        profile: The kind of tool.
        sanitiser: Redacts; it runs last, over the answer and over the account of what was cut.
        timer: Gives seconds, to measure with.
        judge: Asks a language model about items; None without one.
        summariser: Asks a language model for summaries; None without one.
        count_tokens: Estimates tokens of a JSON value; None estimates them from its size.
        today: Day that relative dates count from.
    """

    profile: ToolProfile
    sanitiser: Sanitiser
    timer: Callable[[], float]
    judge: Judge | None = None
    summariser: Summariser | None = None
    count_tokens: TokenCounter | None = None
    today: date | None = None

    def filter_response(
        self,
        response: Any,
        intent: Intent,
        *,
        tool_name: str,
        options: FilterOptions | None = None,
        explain: Explain = "brief",
    ) -> FilteredResponse:
        """Cuts `response` to what `intent` asks for.

        A filter that fails lets the whole answer pass, sanitised and with a notice. A sanitiser that fails lets
        nothing pass: its error goes to the caller.
        """
        started = self.timer()
        payload = PayloadFilter(
            intent=intent,
            profile=self.profile,
            options=options or FilterOptions(),
            judge=self.judge,
            summariser=self.summariser,
            clean=lambda text: str(self.sanitiser.sanitise(text, tool_name=tool_name).value),
            today=self.today,
        )
        notice = None
        try:
            outcome = payload.filter(response)
        except Exception:  # noqa: BLE001 - whatever failed, the caller still gets the answer, sanitised
            outcome, notice = Outcome(response), FAILED_NOTICE
        latency_ms = (self.timer() - started) * 1_000
        cleaned = self.sanitiser.sanitise(outcome.data, tool_name=tool_name)
        shown = outcome.removed if explain == "full" else near_misses(outcome.removed)
        removed_items, removed_findings = self.explained(shown, tool_name, whole=explain == "full")
        before, after = size_bytes(response), size_bytes(cleaned.value)
        return FilteredResponse(
            data=cleaned.value,
            reduction=round(outcome.reduction, 6),
            total=outcome.total,
            kept=outcome.kept,
            removed_by_reason=count_by_reason(outcome.removed),
            removed_items=removed_items,
            strategy=outcome.strategy,
            scoring_latency_ms=round(latency_ms, 3),
            bytes_before=before,
            bytes_after=after,
            tokens=self.count_tokens(response, cleaned.value) if self.count_tokens else by_bytes(before, after),
            findings=cleaned.findings,
            shown_findings=removed_findings,
            mean_score=mean_score(outcome.removed),
            notice=notice,
            removed=outcome.removed,
        )

    def explained(
        self, removed: Sequence[Removal], tool_name: str, *, whole: bool
    ) -> tuple[list[dict[str, Any]], list[Any]]:
        """What was removed as it may be shown, whole or short, and what was redacted in it."""
        # Redacted before it is shortened: a secret cut in half would not be recognised any more.
        cleaned = self.sanitiser.sanitise(
            [{"item": removal.item, "path": field_path(removal.path)} for removal in removed], tool_name=tool_name
        )
        rows: list[Mapping[str, Any]] = cleaned.value
        items: list[dict[str, Any]] = []
        for removal, row in zip(removed, rows, strict=True):
            item = row.get("item")
            items.append(
                {
                    "item": item if whole else brief(item),
                    "reason": removal.reason,
                    "score": round(removal.score, 4),
                    "threshold": None if removal.threshold is None else round(removal.threshold, 4),
                    "path": row.get("path"),
                }
            )
        return items, list(cleaned.findings)
