"""The blocks feature's SQL: the blocks of one user's stored sessions."""

from collections.abc import Sequence
from typing import Any

from psycopg.types.json import Jsonb

from satchel.blocks.result import BuiltBlock, Explained
from satchel.blocks.sessions import KnownBlock, Message, Snippet, Tags
from satchel.blocks.stored import Placement, Window
from satchel.blocks.window import WINDOW
from satchel.postgres.database import Connection, Database
from satchel.postgres.queries import load_queries
from satchel.timestamps import format_timestamp, parse_iso_timestamp

_SQL = load_queries("satchel.blocks")


class BlockStore:
    """The blocks of one user's sessions.

    Args:
        database: The store.
        user_id: Whose sessions; every statement runs as this user.
    """

    def __init__(self, database: Database, user_id: str) -> None:
        self._database = database
        self._user_id = user_id

    def unplaced(self, session_id: str) -> Window:
        """See `satchel.blocks.stored.Store`."""
        values = {"user_id": self._user_id, "session_id": session_id, "window": WINDOW}
        with self._database.transaction(self._user_id) as connection:
            version = connection.execute(_SQL["session_version"], values).fetchone()
            rows = connection.execute(_SQL["unplaced_window"], values).fetchall()
            homes = {row["message_id"]: row["block_id"] for row in rows if row["block_id"]}
            known = self._known(connection, values, set(homes.values())) if rows else []
        return Window(version["version"] if version else 0, [_message(row) for row in rows], homes, known)

    def keep(
        self, session_id: str, version: int, blocks: Sequence[BuiltBlock], placed: Sequence[tuple[str, Explained]]
    ) -> bool:
        """See `satchel.blocks.stored.Store`."""
        session = {"user_id": self._user_id, "session_id": session_id, "version": version}
        with self._database.transaction(self._user_id) as connection:
            taken = connection.execute(_SQL["advance_session" if version else "begin_session"], session).fetchone()
            if taken is None:
                return False
            with connection.cursor() as cursor:
                cursor.executemany(
                    _SQL["keep_block"],
                    [{**session, "block_id": block.block_id, "body": Jsonb(_body(block))} for block in blocks],
                )
                cursor.executemany(
                    _SQL["place_message"],
                    [{**session, **each._asdict(), "block_id": block_id} for block_id, each in placed],
                )
        return True

    def blocks(self, session_id: str, limit: int) -> tuple[list[BuiltBlock], bool]:
        """The newest `limit` blocks of a session in order of time, and whether there are older ones."""
        rows = self._database.fetch_all(self._user_id, _SQL["blocks"], session_id=session_id, limit=limit + 1)
        return [_block(row) for row in reversed(rows[:limit])], len(rows) > limit

    def blocks_holding(self, session_id: str, message_ids: Sequence[str]) -> list[BuiltBlock]:
        """The blocks of a session that some messages are in, in the order of the blocks' ids."""
        rows = self._database.fetch_all(
            self._user_id, _SQL["blocks_holding"], session_id=session_id, message_ids=list(message_ids)
        )
        return [_block(row) for row in rows]

    def placement(self, session_id: str, message_id: str) -> Placement | None:
        """Where a message is; None where it is in no block."""
        row = self._database.fetch_one(self._user_id, _SQL["placement"], session_id=session_id, message_id=message_id)
        return Placement(**row) if row else None

    @staticmethod
    def _known(connection: Connection, values: dict[str, Any], touched: set[str]) -> list[KnownBlock]:
        """All blocks of the session; those not `touched` by their id alone."""
        named = connection.execute(_SQL["blocks_named"], {**values, "block_ids": sorted(touched)}).fetchall()
        whole = {row["block_id"]: _block(row) for row in named}
        known: list[KnownBlock] = []
        for row in connection.execute(_SQL["block_ids"], values):
            block = whole.get(row["block_id"])
            known.append(
                KnownBlock(block.block_id, block.message_ids, block.tags, snippets=block.snippets)
                if block
                else KnownBlock(row["block_id"], ())
            )
        return known


def _message(row: dict[str, Any]) -> Message:
    speaker = row["metadata"].get("speaker")
    return Message(
        row["message_id"], row["role"], row["content"], row["created_at"], speaker if isinstance(speaker, str) else ""
    )


def _body(block: BuiltBlock) -> dict[str, Any]:
    tags = block.tags
    return {
        "tags": {
            "CONTEXT": tags.CONTEXT, "PROBLEM": tags.PROBLEM, "TRIAL": list(tags.TRIAL),
            "SOLUTION": tags.SOLUTION, "INSIGHT": tags.INSIGHT,
        },
        "snippets": [list(snippet) for snippet in block.snippets],
        "confidence": block.confidence,
        "model": block.model,
        "last_at": format_timestamp(block.last_at) if block.last_at else None,
        "partial": block.partial,
        "analysis_version": block.analysis_version,
    }  # fmt: skip


def _block(row: dict[str, Any]) -> BuiltBlock:
    body = row["body"]
    tags = body["tags"]
    return BuiltBlock(
        row["block_id"],
        row["message_ids"],
        Tags(tags["CONTEXT"], tags["PROBLEM"], tuple(tags["TRIAL"]), tags["SOLUTION"], tags["INSIGHT"]),
        snippets=[Snippet(*snippet) for snippet in body["snippets"]],
        confidence=body["confidence"],
        model=body["model"],
        last_at=parse_iso_timestamp(body["last_at"]) if body["last_at"] else None,
        partial=body["partial"],
        analysis_version=body["analysis_version"],
    )
