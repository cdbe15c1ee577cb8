"""The gateway's rows: turns under way and open connections. No text of anybody is in them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from satchel.postgres.database import Database
from satchel.postgres.queries import load_queries

_SQL = load_queries("satchel.agent")

Channel = Literal["http", "socket", "telegram"]
Status = Literal["queued", "running", "done", "failed"]


@dataclass(frozen=True)
class TurnRow:
    """A turn.

    Attributes:
        turn_id: Its id, also that of the job it may become.
        session_id: The conversation.
        message_id: The user's message.
        scopes: What the caller's token allowed; whoever goes on with the turn may do no more.
        channel: Where the answer goes.
        reply_to: Whom it goes to there: a connection's or a chat's id.
        status: How far it is.
        lease_until: Until when whoever runs it is trusted to be alive.
        error_code: Why it failed.
    """

    turn_id: str
    session_id: str
    message_id: str
    scopes: str
    channel: Channel
    reply_to: str | None
    status: Status
    lease_until: datetime | None
    error_code: str | None

    def is_abandoned(self, now: datetime) -> bool:
        """Whether nobody works on it although somebody should."""
        return self.status == "running" and self.lease_until is not None and self.lease_until < now


class AgentStore:
    """Turns and connections of one user.

    Args:
        database: The store.
        user_id: Whose; every statement runs as this user.
    """

    def __init__(self, database: Database, user_id: str) -> None:
        self._database = database
        self._user_id = user_id

    def open_turn(
        self,
        turn_id: str,
        *,
        session_id: str,
        message_id: str,
        scopes: str,
        channel: Channel,
        reply_to: str | None,
        now: datetime,
    ) -> TurnRow:
        """The turn of a message: a new one under `turn_id`, or the one there is."""
        row = self._database.fetch_one(
            self._user_id,
            _SQL["open_turn"],
            turn_id=turn_id,
            session_id=session_id,
            message_id=message_id,
            scopes=scopes,
            channel=channel,
            reply_to=reply_to,
            now=now,
        )
        assert row is not None
        return TurnRow(**row)

    def claim(self, turn_id: str, *, claimant: str, lease_until: datetime, now: datetime) -> bool:
        """Whether the turn is now `claimant`'s to run: it is unfinished, and nobody else runs it."""
        row = self._database.fetch_one(
            self._user_id, _SQL["claim_turn"], turn_id=turn_id, claimant=claimant, lease_until=lease_until, now=now
        )
        return row is not None

    def release(self, turn_id: str, *, claimant: str) -> None:
        """Give a turn back unfinished."""
        self._database.run(self._user_id, _SQL["release_turn"], turn_id=turn_id, claimant=claimant)

    def finish(self, turn_id: str, *, claimant: str, error_code: str | None, now: datetime) -> None:
        """End a turn; a claimant that has lost it in the meantime changes nothing."""
        status = "failed" if error_code else "done"
        self._database.run(
            self._user_id,
            _SQL["finish_turn"],
            turn_id=turn_id,
            claimant=claimant,
            status=status,
            error_code=error_code,
            now=now,
        )

    def turn(self, turn_id: str) -> TurnRow | None:
        """One turn; None where the user has none of that id."""
        row = self._database.fetch_one(self._user_id, _SQL["get_turn"], turn_id=turn_id)
        return TurnRow(**row) if row else None

    def undelivered(self) -> list[TurnRow]:
        """Finished turns of the socket whose answer reached nobody, oldest first."""
        rows = self._database.fetch_all(self._user_id, _SQL["undelivered_turns"])
        return [TurnRow(**row) for row in rows]

    def claim_delivery(self, turn_id: str, *, now: datetime) -> bool:
        """Whether the answer is ours to deliver: nobody else has, or does."""
        return self._database.fetch_one(self._user_id, _SQL["claim_delivery"], turn_id=turn_id, now=now) is not None

    def give_back_delivery(self, turn_id: str) -> None:
        """The answer has not arrived after all, or is asked for again."""
        self._database.run(self._user_id, _SQL["give_back_delivery"], turn_id=turn_id)

    def add_connection(self, connection_id: str, *, now: datetime) -> None:
        """Note an open connection."""
        self._database.run(self._user_id, _SQL["add_connection"], connection_id=connection_id, now=now)

    def drop_connection(self, connection_id: str) -> None:
        """Forget a connection."""
        self._database.run(self._user_id, _SQL["drop_connection"], connection_id=connection_id)

    def connections(self) -> list[str]:
        """Open connections, newest first."""
        rows = self._database.fetch_all(self._user_id, _SQL["connections"])
        return [row["connection_id"] for row in rows]
