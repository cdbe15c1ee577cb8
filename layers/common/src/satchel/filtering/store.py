"""The filter's SQL: what it cut, for a while, and what it redacted."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from psycopg.types.json import Json

from satchel.filtering.json_values import minified
from satchel.filtering.sanitiser.finding import Finding
from satchel.postgres.database import Database
from satchel.postgres.queries import load_queries
from satchel.postgres.text import storable_json, storable_text

RETENTION = timedelta(hours=24)
PAGE_ITEMS = 50
_ALL_PAGES = 1_000_000

_SQL = load_queries("satchel.filtering")


@dataclass(frozen=True, slots=True)
class CutResult:
    """What was cut out of one tool result.

    Attributes:
        tool_name: The tool.
        items: How many things were cut.
        expires_at: When it is forgotten.
    """

    tool_name: str
    items: int
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One redaction.

    Attributes:
        audit_id: Its place; later ones are larger.
        occurred_at: When.
        tool_name: In whose result.
        pattern_matched: Which rule found it.
        field_path: Where.
        action_taken: `redacted`, `masked` or `removed`.
    """

    audit_id: int
    occurred_at: datetime
    tool_name: str
    pattern_matched: str
    field_path: str
    action_taken: str


class FilterStore:
    """What the filter keeps for one user.

    Args:
        database: The store.
        user_id: Whose; every statement runs as this user.
    """

    def __init__(self, database: Database, user_id: str) -> None:
        self._database = database
        self._user_id = user_id

    def keep(self, handle: str, tool_name: str, items: Sequence[Any], now: datetime) -> None:
        """Store what was cut under `handle` for 24 hours, and forget what is older.

        Args:
            handle: A new name for it.
            tool_name: The tool.
            items: JSON values, sanitised, best first.
            now: The time.
        """
        row = {
            "user_id": self._user_id,
            "handle": handle,
            "tool_name": storable_text(tool_name),
            "items": len(items),
            "now": now,
            "expires_at": now + RETENTION,
        }
        pages = [
            {
                "user_id": self._user_id,
                "handle": handle,
                "page": page,
                "items": Json(storable_json(list(items[start : start + PAGE_ITEMS]), field="items"), dumps=minified),
            }
            for page, start in enumerate(range(0, len(items), PAGE_ITEMS))
        ]
        with self._database.transaction(self._user_id) as connection, connection.cursor() as cursor:
            cursor.execute(_SQL["forget_expired"], row)
            cursor.execute(_SQL["put_result"], row)
            cursor.executemany(_SQL["put_page"], pages)

    def result(self, handle: str, now: datetime) -> CutResult | None:
        """What is known of a handle; None where there is none, or it has expired."""
        row = self._database.fetch_one(self._user_id, _SQL["get_result"], handle=handle, now=now)
        return CutResult(**row) if row else None

    def items(self, handle: str, *, page: int | None = None) -> list[Any]:
        """The things cut, of one page of 50 or, without a page, all of them."""
        limit = _ALL_PAGES if page is None else 1
        rows = self._database.fetch_all(self._user_id, _SQL["get_pages"], handle=handle, first=page or 0, limit=limit)
        return [item for row in rows for item in row["items"]]

    def write_audit(self, findings: Sequence[Finding], *, tool_name: str, now: datetime) -> None:
        """Store one row for each finding."""
        rows = [
            {
                "user_id": self._user_id,
                "occurred_at": now,
                "tool_name": storable_text(tool_name),
                "pattern_matched": storable_text(finding.rule),
                "field_path": storable_text(finding.path),
                "action_taken": finding.action,
            }
            for finding in findings
        ]
        if rows:
            with self._database.transaction(self._user_id) as connection, connection.cursor() as cursor:
                cursor.executemany(_SQL["put_audit"], rows)

    def audit(self, *, before: int | None, limit: int) -> list[AuditRow]:
        """Rows of the audit log, newest first.

        Args:
            before: Only rows older than this place; None starts at the newest.
            limit: At most this many.
        """
        rows = self._database.fetch_all(self._user_id, _SQL["get_audit"], before=before, limit=limit)
        return [AuditRow(**row) for row in rows]
