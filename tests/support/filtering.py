"""Tool calls, answers and engines for the filter's tests: what the design document calls its mocks and fixtures."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from satchel.filtering.engine import FilterEngine
from satchel.filtering.intent import Intent
from satchel.filtering.tool_profiles import default_profiles


@dataclass(frozen=True)
class ToolCallRequest:
    tool_name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    question: str | None = None


def create_mock_tool_call_request(tool_name: str = "slack_search_messages", **fields: Any) -> ToolCallRequest:
    return ToolCallRequest(tool_name, **fields)


def create_mock_intent_analysis(**fields: Any) -> Intent:
    given = {
        "intent": "Find security-related team messages",
        "keywords": ("security", "vulnerability", "patch", "CVE"),
        "filters": {},
        "max_results": 20,
        "confidence": 0.9,
    }
    return Intent(**(given | fields))


@dataclass(frozen=True)
class Cleaned:
    value: Any
    findings: Sequence[Any] = ()


class NoSanitiser:
    """Lets everything through."""

    def sanitise(self, value: Any, *, tool_name: str) -> Cleaned:
        return Cleaned(value)


class WordSanitiser:
    """Redacts one word wherever it stands whole."""

    def __init__(self, word: str) -> None:
        self.word = word

    def sanitise(self, value: Any, *, tool_name: str) -> Cleaned:
        return Cleaned(self._clean(value))

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(self.word, "[REDACTED]")
        if isinstance(value, dict):
            return {self._clean(key): self._clean(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._clean(inner) for inner in value]
        return value


def create_test_filter_engine(tool_name: str = "slack_search_messages", **fields: Any) -> FilterEngine:
    ticks = iter(range(1_000_000))
    given = {
        "profile": default_profiles().of_tool(tool_name),
        "sanitiser": NoSanitiser(),
        "timer": lambda: next(ticks) / 1_000,
    }
    return FilterEngine(**(given | fields))


TOPICS = ("lunch is ready", "deploy went well", "budget review at noon", "new office plants", "who has the key card")


def slack_messages(count: int = 1_000, *, relevant_every: int = 25) -> list[dict[str, Any]]:
    """Messages of a team, one in `relevant_every` about security."""
    return [
        {
            "id": f"m{i}",
            "ts": f"{1_700_000_000 + 60 * i}.000100",
            "user": f"U{i % 11}",
            "channel": "team-core" if i % 2 else "random",
            "text": f"security patch for CVE-2024-{i} is out" if i % relevant_every == 0 else TOPICS[i % len(TOPICS)],
        }
        for i in range(count)
    ]


def jira_issues(count: int = 200) -> list[dict[str, Any]]:
    """Issues of a tracker with a status, a priority and a creation date each."""
    statuses, priorities = ("Open", "Resolved", "In Progress"), ("Critical", "Major", "Minor", "Trivial")
    return [
        {
            "id": str(13_000_000 + i),
            "key": f"CORE-{i}",
            "title": f"HttpClient leaks connections in module {i}" if i % 10 == 0 else f"Improve docs of module {i}",
            "description": "The retry loop never ends." if i % 7 == 0 else "Nothing special.",
            "status": statuses[i % 3],
            "priority": priorities[i % 4],
            "created": f"202{i % 5}-0{1 + i % 9}-15T10:00:00",
        }
        for i in range(count)
    ]


def database_rows(count: int = 300) -> list[dict[str, Any]]:
    """Orders of a shop."""
    countries = ("Norway", "Peru", "Japan", "Kenya")
    return [
        {"id": i, "customer": f"customer {i}", "country": countries[i % 4], "amount": i * 3, "paid": i % 2 == 0}
        for i in range(count)
    ]
