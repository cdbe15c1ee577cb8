"""From settings to the objects a handler needs, each built once per process and only when asked for."""

import os
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache

from satchel.memory.messages import Message
from satchel.memory.store import ConversationStore
from satchel.postgres.database import Database
from satchel.postgres.secret import conninfo_of_secret
from satchel.settings import Settings


@cache
def settings() -> Settings:
    """The settings of this process."""
    return Settings.from_environment(os.environ)


@cache
def database() -> Database:
    """The store of this process."""
    return Database(_conninfo)


def clock() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


def new_id() -> str:
    """A fresh message id."""
    return str(uuid.uuid4())


def conversation_store(user_id: str) -> ConversationStore:
    """The messages of one user."""
    return ConversationStore(database(), user_id)


def message_index(user_id: str) -> Callable[[Message], None]:
    """What makes a stored message of this user searchable."""
    del user_id
    return lambda _message: None


def _conninfo() -> str:
    return settings().database_url or conninfo_of_secret(settings().database_secret)
