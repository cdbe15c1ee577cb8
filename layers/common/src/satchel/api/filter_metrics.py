"""The filter's metrics, under the names of the document, as CloudWatch's embedded metric format. Never content."""

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from satchel.filtering.answering import Answered
    from satchel.filtering.streaming import FilterState

NAMESPACE = "Satchel/Filter"


def record_answer(answered: "Answered", *, kind: str) -> None:
    """Record one filtered answer.

    Args:
        answered: What the caller is told.
        kind: Name of the tool's profile: the one dimension, since tool names are without bound.
    """
    result = answered.result
    by_reason = result.removed_by_reason
    values: dict[str, tuple[str, float]] = {
        "intent_analysis_latency_ms": ("Milliseconds", answered.intent_latency_ms),
        "scoring_latency_ms": ("Milliseconds", result.scoring_latency_ms),
        "items_before": ("Count", result.total),
        "items_after": ("Count", result.kept),
        "reduction_ratio": ("None", result.reduction),
        "sensitive_data_detected_count": ("Count", len(result.findings)),
        "redactions_applied": ("Count", len(result.findings) + len(result.shown_findings)),
        "audit_log_entries": ("Count", answered.audit_rows),
    }
    if result.strategy == "object":
        values["fields_removed"] = ("Count", sum(by_reason.values()))
    if result.strategy.startswith("text:"):
        values["text_reduction_ratio"] = ("None", result.reduction)
        values["summarization_latency_ms"] = ("Milliseconds", result.scoring_latency_ms)
    if result.mean_score is not None:
        values["avg_score"] = ("None", result.mean_score)
    record(values, kind=kind)


def record_stream(state: "FilterState", *, kind: str) -> None:
    """Record what only a stream has, beside the answer's own metrics.

    Args:
        state: What is known at its end.
        kind: Name of the tool's profile.
    """
    record(
        {
            "chunks_processed": ("Count", state.chunks),
            "peak_memory_bytes": ("Bytes", state.peak_memory_bytes),
            "progressive_threshold": ("None", state.threshold),
        },
        kind=kind,
    )


def record(values: dict[str, tuple[str, float]], *, kind: str) -> None:
    """Record values, each a unit of CloudWatch and a number, under one dimension."""
    metrics = _metrics()
    metrics.add_dimension(name="tool_kind", value=kind)
    for name, (unit, value) in values.items():
        metrics.add_metric(name=name, unit=unit, value=value)
    metrics.flush_metrics()


@cache
def _metrics() -> Any:
    from aws_lambda_powertools.metrics import EphemeralMetrics  # noqa: PLC0415 - 45 ms, after the answer is made

    return EphemeralMetrics(namespace=NAMESPACE, service="satchel")
