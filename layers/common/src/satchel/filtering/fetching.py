"""Getting back what was cut, page by page or by a question of its own.

Pure: the store and the sanitiser are handed in.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from satchel.errors import NotFoundError
from satchel.filtering.engine import Sanitiser
from satchel.filtering.intent import analyze_intent
from satchel.filtering.ranking import rank
from satchel.filtering.tool_profiles import ToolProfiles

PAGE_ITEMS = 50


class Cut(Protocol):
    """What is known of a handle."""

    @property
    def tool_name(self) -> str:
        """The tool."""
        ...

    @property
    def items(self) -> int:
        """How many things were cut."""
        ...

    @property
    def expires_at(self) -> datetime:
        """When it is forgotten."""
        ...


class Fetching(Protocol):
    """Where what was cut is kept, in pages of 50."""

    def result(self, handle: str, now: datetime) -> Cut | None:
        """What is known of a handle; None where there is none, or it has expired."""
        ...

    def items(self, handle: str, *, page: int | None = None) -> list[Any]:
        """The things cut, of one page or all of them, best first."""
        ...


@dataclass(frozen=True, slots=True)
class Fetched:
    """One page of what was cut.

    Attributes:
        items: Objects with `item`, `path`, `reason` and `score`, sanitised.
        total: How many things were cut.
        expires_at: When it is forgotten.
        has_more: Whether there is a next page.
    """

    items: Sequence[Any]
    total: int
    expires_at: datetime
    has_more: bool


def cut_page(
    handle: str,
    *,
    page: int,
    query: str | None,
    store: Fetching,
    profiles: ToolProfiles,
    sanitiser: Sanitiser,
    now: datetime,
) -> Fetched:
    """One page of what was cut under `handle`.

    Args:
        handle: The name after `context://filtered/`.
        page: Number of the page, from 0.
        query: Puts what answers to it first; None keeps the order of the first filtering.
        store: Where it is kept.
        profiles: The kinds of tools.
        sanitiser: Redacts what is read, with the rules of today.
        now: The time.

    Raises:
        NotFoundError: There is no such handle for this user, it has expired, or it has no such page.
    """
    known = store.result(handle, now)
    if known is None or page * PAGE_ITEMS >= max(1, known.items):
        raise NotFoundError("there is nothing under this handle; it may have expired", field="uri")
    if query:
        everything = store.items(handle)
        profile = profiles.of_tool(known.tool_name)
        intent = analyze_intent(known.tool_name, {"query": query}, profile=profile, today=now.date())
        ranked = rank([row["item"] for row in everything], replace(intent, filters={}), profile, today=now.date())
        rows = [everything[index] for index in ranked.order[page * PAGE_ITEMS : (page + 1) * PAGE_ITEMS]]
    else:
        rows = store.items(handle, page=page)
    cleaned = sanitiser.sanitise(rows, tool_name=known.tool_name)
    return Fetched(cleaned.value, known.items, known.expires_at, (page + 1) * PAGE_ITEMS < known.items)
