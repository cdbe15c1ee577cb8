"""One filter request from end to end: intent, cut, audit, and a handle for what was cut.

Pure: the store, the language model and the clock are handed in.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import partial
from typing import Any, Protocol

from satchel.errors import UnavailableError
from satchel.filtering.engine import Explain, FilteredResponse, FilterEngine
from satchel.filtering.intent import Intent, analyze_intent
from satchel.filtering.json_values import field_path
from satchel.filtering.payload import FilterOptions
from satchel.filtering.removal import Removal
from satchel.filtering.sanitiser.finding import Finding
from satchel.filtering.tool_profiles import ToolProfile

# Told to the caller where what was cut could not be kept.
NOT_KEPT_NOTICE = "what was cut could not be kept, so there is no handle"


class Keeping(Protocol):
    """Where what was cut and what was redacted is kept."""

    def keep(self, handle: str, tool_name: str, items: Sequence[Any], now: datetime) -> None:
        """Store what was cut. Raises UnavailableError where the store does not answer."""
        ...

    def write_audit(self, findings: Sequence[Finding], *, tool_name: str, now: datetime) -> None:
        """Store what was redacted. Raises UnavailableError where the store does not answer."""
        ...


class Remembering(Protocol):
    """Keeps intents for a while, by the content they were read from."""

    def get_or_make(self, key: str, make: Callable[[], Intent], /) -> Intent:
        """The intent under `key`, made where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class FilterCall:
    """What a caller asks.

    Attributes:
        tool_name: The tool that answered.
        arguments: The arguments it was called with.
        response: Its answer.
        question: What the user asked, where known.
        intent: The intent, where the caller knows it; else it is read from the call.
        options: How to filter.
        max_keywords: At most so many keywords; the profile's number by default.
        negatives: Whether "without X" makes X a negative.
        explain: How much of what was removed is told inline.
        audit: Whether redactions are written to the audit log.
    """

    tool_name: str
    arguments: Mapping[str, Any]
    response: Any
    question: str | None = None
    intent: Intent | None = None
    options: FilterOptions = field(default_factory=FilterOptions)
    max_keywords: int | None = None
    negatives: bool = True
    explain: Explain = "brief"
    audit: bool = True


@dataclass(frozen=True, slots=True)
class Answered:
    """What a caller is told.

    Attributes:
        result: The filtered answer.
        intent: The intent it was filtered by.
        handle: Under which what was cut can be fetched; None where nothing was, or it could not be kept.
        notice: A sentence where something did not go as it should; else None.
        intent_latency_ms: Milliseconds that reading the intent took.
        audit_rows: Rows that were written to the audit log.
    """

    result: FilteredResponse
    intent: Intent
    handle: str | None
    notice: str | None
    intent_latency_ms: float
    audit_rows: int = 0


def answer(
    call: FilterCall,
    *,
    engine: FilterEngine,
    store: Keeping,
    new_handle: Callable[[], str],
    clock: Callable[[], datetime],
    improve: Callable[[FilterCall, Intent], Intent] | None = None,
    known: Remembering | None = None,
) -> Answered:
    """Filters one answer.

    The audit log is written first: where it cannot be, nothing is answered. What was cut is kept where the store
    answers; where it does not, the caller is told and still gets the answer.

    Args:
        call: What is asked.
        engine: Filters and redacts.
        store: Keeps audit rows and what was cut.
        new_handle: Gives a new, unguessable name.
        clock: Gives the time.
        improve: Asks a language model for a better intent than the rules'; None without one.
        known: Remembers what rules read of the same call for a while; None reads it again.

    Raises:
        UnavailableError: A redaction could not be written to the audit log.
    """
    started = engine.timer()
    intent = read_intent(call, engine.profile, clock().date(), improve=improve, known=known)
    intent_latency_ms = (engine.timer() - started) * 1_000
    engine = replace(engine, today=clock().date())
    result = engine.filter_response(
        call.response, intent, tool_name=call.tool_name, options=call.options, explain=call.explain
    )
    return told(call, result, intent, intent_latency_ms, engine=engine, store=store, new_handle=new_handle, now=clock())


def read_intent(
    call: FilterCall,
    profile: ToolProfile,
    today: date,
    *,
    improve: Callable[[FilterCall, Intent], Intent] | None = None,
    known: Remembering | None = None,
) -> Intent:
    """The intent that the call names, else as rules read it, or the language model; see `answer`."""
    if call.intent is not None:
        return call.intent
    by_rules = partial(_by_rules, call, profile, today)
    intent = known.get_or_make(_key(call, profile, today), by_rules) if known is not None else by_rules()
    return improve(call, intent) if improve is not None else intent


def told(
    call: FilterCall,
    result: FilteredResponse,
    intent: Intent,
    intent_latency_ms: float,
    *,
    engine: FilterEngine,
    store: Keeping,
    new_handle: Callable[[], str],
    now: datetime,
) -> Answered:
    """What the caller is told of a filtered answer, once its redactions are written down and what was cut is kept.

    Raises:
        UnavailableError: A redaction could not be written to the audit log.
    """
    kept, findings = _kept_items(result.removed, engine, call.tool_name)
    audited = [*result.findings, *findings] if call.audit else []
    if audited:
        store.write_audit(audited, tool_name=call.tool_name, now=now)
    handle, notice = None, result.notice
    if kept:
        try:
            name = new_handle()
            store.keep(name, call.tool_name, kept, now)
            handle = f"context://filtered/{name}"
        except UnavailableError:
            notice = NOT_KEPT_NOTICE
    return Answered(result, intent, handle, notice, intent_latency_ms, len(audited))


def _by_rules(call: FilterCall, profile: ToolProfile, today: date) -> Intent:
    return analyze_intent(
        call.tool_name,
        call.arguments,
        call.question,
        profile=profile,
        max_keywords=call.max_keywords,
        negatives=call.negatives,
        today=today,
    )


def _key(call: FilterCall, profile: ToolProfile, today: date) -> str:
    """A digest of all that decides the rules' reading: what was asked is not kept itself."""
    parts = [profile.name, call.tool_name, call.arguments, call.question, call.max_keywords, call.negatives]
    content = json.dumps([*parts, today.isoformat()], sort_keys=True)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def _kept_items(
    removed: Sequence[Removal], engine: FilterEngine, tool_name: str
) -> tuple[list[dict[str, Any]], Sequence[Any]]:
    """What was removed, sanitised with this request's own patterns, best first."""
    if not removed:
        return [], ()
    ordered = sorted(removed, key=lambda removal: -removal.score)
    cleaned = engine.sanitiser.sanitise(
        [{"path": field_path(removal.path), "item": removal.item} for removal in ordered], tool_name=tool_name
    )
    items = [
        {"reason": removal.reason, "score": round(removal.score, 4), **row}
        for removal, row in zip(ordered, cleaned.value, strict=True)
    ]
    return items, cleaned.findings
