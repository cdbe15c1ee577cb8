"""What was found where, and what was done about it; never the value itself."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from satchel.filtering.sanitiser.span import FindingClass

Action = Literal["redacted", "masked", "removed"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One redaction.

    Attributes:
        rule: Id of the rule, such as `github-token`, `assigned-password`, `email`, or a custom pattern's name.
        finding_class: `secret` or `pii`.
        path: The field, such as `items[3].env`, with redacted keys in their redacted form; empty for a bare text.
        action: What the strategy did.
    """

    rule: str
    finding_class: FindingClass
    path: str
    action: Action


@dataclass(frozen=True, slots=True)
class Sanitised:
    """A value without its sensitive parts. `value` is the given object itself where nothing was found."""

    value: Any
    findings: tuple[Finding, ...]

    def counts(self) -> dict[str, int]:
        """How many findings each rule has, the rule's id first in the alphabet first."""
        return dict(sorted(Counter(finding.rule for finding in self.findings).items()))


@dataclass(frozen=True, slots=True)
class SanitisedText:
    """A text without its sensitive parts."""

    text: str
    findings: tuple[Finding, ...]


def audit_rows(findings: tuple[Finding, ...], *, tool_name: str, at: datetime) -> list[dict[str, str]]:
    """The audit log's rows: `{timestamp, toolName, patternMatched, fieldPath, actionTaken}`; `at` is aware UTC."""
    timestamp = at.isoformat().replace("+00:00", "Z")
    return [
        {
            "timestamp": timestamp,
            "toolName": tool_name,
            "patternMatched": finding.rule,
            "fieldPath": finding.path,
            "actionTaken": finding.action,
        }
        for finding in findings
    ]
