"""Which chats of Telegram are whose: made with a code that the user fetched with their token and sent from the chat."""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from satchel.postgres.database import Database
from satchel.postgres.queries import load_queries

_SQL = load_queries("satchel.agent")
_NOBODY = ""
CODE_LIFETIME = timedelta(minutes=15)


@dataclass(frozen=True)
class Link:
    """A chat that is somebody's: the user, and what the chat may do."""

    user_id: str
    scopes: str


class LinkStore:
    """The links of one user.

    Args:
        database: The store.
        user_id: Whose; every statement runs as this user.
    """

    def __init__(self, database: Database, user_id: str) -> None:
        self._database = database
        self._user_id = user_id

    def add_code(self, code: str, *, scopes: str, now: datetime) -> datetime:
        """Keep a code that may make one link; until when it does."""
        expires_at = now + CODE_LIFETIME
        self._database.run(self._user_id, _SQL["add_code"], code_hash=_hash(code), scopes=scopes, expires_at=expires_at)
        return expires_at

    def link(self, code: str, chat_id: str, *, now: datetime) -> bool:
        """Link a chat with a code of this user's; whether the code was good, or made this chat's link before."""
        values = {"user_id": self._user_id, "code_hash": _hash(code), "chat_id": chat_id, "now": now}
        with self._database.transaction(self._user_id) as connection:
            used = connection.execute(_SQL["use_code"], values).fetchone()
            if used is not None:
                connection.execute(_SQL["add_link"], {**values, "scopes": used["scopes"]})
            return connection.execute(_SQL["link_made_with"], values).fetchone() is not None

    def scopes_of(self, chat_id: str) -> str | None:
        """What a chat of this user's may do; None where it is not linked."""
        row = self._database.fetch_one(self._user_id, _SQL["link_scopes"], chat_id=chat_id)
        return row["scopes"] if row else None

    def unlink(self) -> None:
        """Forget all chats of this user's."""
        self._database.run(self._user_id, _SQL["drop_links"])


def find_link(database: Database, chat_id: str) -> Link | None:
    """Whose a chat is; None where it is nobody's."""
    user_id = _whose(database, "user_of_chat", chat_id=chat_id)
    scopes = LinkStore(database, user_id).scopes_of(chat_id) if user_id else None
    return Link(user_id, scopes) if user_id and scopes is not None else None


def use_code(database: Database, code: str, chat_id: str, *, now: datetime) -> bool:
    """Link a chat to whoever made `code`; whether the chat is linked with it.

    A chat that is somebody else's stays theirs. A code links one chat, which may send it again.
    """
    user_id = _whose(database, "user_of_code", code_hash=_hash(code)) or _whose(
        database, "user_of_chat", chat_id=chat_id
    )
    return user_id is not None and LinkStore(database, user_id).link(code, chat_id, now=now)


def _whose(database: Database, name: str, **values: Any) -> str | None:
    with database.transaction(_NOBODY) as connection:
        connection.execute(_SQL["become_worker"])
        row = connection.execute(_SQL[name], values).fetchone()
    return row["user_id"] if row else None


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()
