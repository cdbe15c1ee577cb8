"""From settings to the objects a handler needs, each built once per process and only when asked for."""

import os
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from satchel.api.request_log import log_event
from satchel.aws_secret import read_secret
from satchel.blocks.advisor import ModelAdvisor
from satchel.blocks.store import BlockStore
from satchel.expiring_cache import ExpiringCache
from satchel.llm.asking import ask_all
from satchel.llm.claude import ClaudeModel, anthropic_client, bedrock_client
from satchel.llm.store import LedgerStore
from satchel.llm.structured import StructuredModel
from satchel.memory.attempts import SHOWN_ATTEMPTS, Attempt, asks_what_was_tried
from satchel.memory.messages import Message
from satchel.memory.store import ConversationStore
from satchel.memory.summary import SHOWN_RECENT, SHOWN_RELEVANT, Summary, Wording, gather_summary
from satchel.memory.summary_wording import read_wording, summary_question
from satchel.postgres.database import Database
from satchel.postgres.secret import conninfo_of_secret, password_of_secret
from satchel.profile.preferences import Preferences, preference_lines
from satchel.profile.store import ProfileStore
from satchel.settings import Settings
from satchel.workspace.store import WorkspaceStore

if TYPE_CHECKING:
    from satchel.embeddings.encoder import Encoder
    from satchel.memory.search_store import SearchStore


# All questions of one request must be answered in this time, in seconds: API Gateway ends after 30.
_MODEL_S = 18.0
# What is left for the rest of the work when the invocation itself is short of time, in seconds.
_AFTER_MODEL_S = 5.0
# An agent reads the summary before every turn: its wording is not worth a longer wait, in seconds.
_WORDING_S = 8.0
# A message of the largest size takes the encoder half a minute; what is left for the words, the store and the answer.
_INDEX_RESERVE_MS = 12_000


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


# Search needs numpy: it is imported by the functions that search or save, not by all that are wired here.


@cache
def encoder() -> "Encoder":
    """What turns texts into vectors, as the settings choose."""
    if settings().encoder == "bedrock":
        from satchel.embeddings.bedrock import BedrockEncoder  # noqa: PLC0415

        return BedrockEncoder()
    if settings().encoder == "hashing":
        from satchel.embeddings.hashing import HashingEncoder  # noqa: PLC0415

        return HashingEncoder()
    models = Path(settings().model_dir)
    if settings().encoder == "minilm":
        from satchel.embeddings.minilm import MiniLmEncoder  # noqa: PLC0415

        return MiniLmEncoder(models / "minilm")
    from satchel.embeddings.e5 import E5Encoder  # noqa: PLC0415

    return E5Encoder(models / settings().encoder)


def search_store(user_id: str) -> "SearchStore":
    """The search index of one user."""
    from satchel.memory.search_store import SearchStore  # noqa: PLC0415

    return SearchStore(database(), user_id)


def message_index(user_id: str, remaining_ms: Callable[[], int]) -> Callable[[Message], object]:
    """What makes a stored message of this user searchable, within the time that this invocation has."""
    from satchel.memory.indexing import index_message  # noqa: PLC0415

    return lambda message: index_message(
        message, store=search_store(user_id), encoder=encoder(), has_time=lambda: remaining_ms() > _INDEX_RESERVE_MS
    )


def block_store(user_id: str) -> BlockStore:
    """The blocks of one user's stored sessions."""
    return BlockStore(database(), user_id)


def block_advisor(user_id: str, remaining_ms: Callable[[], int], *, within_s: float = _MODEL_S) -> ModelAdvisor | None:
    """The model that decides the zone and writes tags, with the user's ledger; None where no model is configured.

    Args:
        user_id: Whose ledger.
        remaining_ms: Milliseconds until this invocation is killed.
        within_s: All questions must be answered in this time.
    """
    model = language_model()
    if model is None:
        return None
    until = monotonic() + within_s
    return ModelAdvisor(
        model,
        LedgerStore(database(), user_id),
        seconds_left=lambda: min(until - monotonic(), remaining_ms() / 1000 - _AFTER_MODEL_S),
        log=log_event,
    )


@cache
def language_model() -> StructuredModel | None:
    """The language model that the settings choose; None for none, or where its key is missing."""
    if settings().llm == "bedrock":
        return ClaudeModel(settings().llm_model, bedrock_client)
    if settings().llm == "anthropic" and (settings().anthropic_secret or os.environ.get("ANTHROPIC_API_KEY")):
        return ClaudeModel(settings().llm_model, lambda: anthropic_client(_anthropic_key))
    return None


def _anthropic_key() -> str:
    return read_secret(settings().anthropic_secret) if settings().anthropic_secret else ""


def profile_store(user_id: str) -> ProfileStore:
    """The preferences of one user."""
    return ProfileStore(database(), user_id)


def local_clock(preferences: Preferences) -> Callable[[], datetime]:
    """The time as a user's own clock shows it: in the zone of their preferences, which tells what `yesterday` means."""
    zone = ZoneInfo(str(preferences.values.get("time_zone") or "UTC"))
    return lambda: clock().astimezone(zone)


def workspace_store(user_id: str) -> WorkspaceStore:
    """The workspace of one user."""
    return WorkspaceStore(database(), user_id)


def summary(user_id: str, query: str | None) -> Summary | None:
    """What the conversation summary is made of.

    Kept for at most five minutes under the versions of all that goes into it, so that it is never older than the
    last message saved.
    """
    messages, preferences = conversation_store(user_id), profile_store(user_id).preferences()
    return _summaries().get_or_make(
        (user_id, messages.content_version(), preferences.version, query),
        lambda: gather_summary(
            store=messages,
            find_relevant=lambda text: _relevant(user_id, text, local_clock(preferences)),
            preferences=preference_lines(preferences),
            query=query,
        ),
    )


def summary_wording(user_id: str, found: Summary | None, remaining_ms: Callable[[], int]) -> Wording | None:
    """A language model's words for a summary; None where there is no model, or none that answers in time.

    Args:
        user_id: Whose ledger keeps the answer.
        found: The summary.
        remaining_ms: Milliseconds until this invocation is killed.
    """
    model = language_model()
    if model is None or found is None:
        return None
    until = monotonic() + _WORDING_S
    (record,) = ask_all(
        [summary_question(found)],
        model=model,
        ledger=LedgerStore(database(), user_id),
        seconds_left=lambda: min(until - monotonic(), remaining_ms() / 1000 - _AFTER_MODEL_S),
    )
    return None if record.answer is None else read_wording(record.answer, found)


def past_attempts(user_id: str, found: Summary | None) -> list[Attempt]:
    """What was tried in the discussions that a summary is made of, where its user asks for that; oldest first.

    They come from the blocks of the sessions of those discussions, which are brought up to date.
    """
    if found is None or not asks_what_was_tried(found.query):
        return []
    from satchel.blocks.continuity import shipped_model  # noqa: PLC0415 - only where it is asked for
    from satchel.blocks.stored import bring_up_to_date  # noqa: PLC0415

    store = block_store(user_id)
    sessions: dict[str, list[str]] = {}
    for message in (*found.relevant, *found.recent):
        sessions.setdefault(message.session_id, []).append(message.message_id)
    attempts: list[Attempt] = []
    for session_id, message_ids in sessions.items():
        bring_up_to_date(session_id, store=store, continuity=shipped_model())
        attempts += [
            Attempt(block.last_at, block.tags.PROBLEM, block.tags.TRIAL, block.tags.SOLUTION)
            for block in store.blocks_holding(session_id, message_ids)
            if block.last_at and (block.tags.TRIAL or block.tags.SOLUTION)
        ]
    return sorted(attempts[:SHOWN_ATTEMPTS], key=lambda attempt: attempt.at)


def _relevant(user_id: str, text: str, now: Callable[[], datetime]) -> list[Message]:
    from satchel.memory.search import search  # noqa: PLC0415

    # More than are shown: what the recent window shows already is left out afterwards.
    found = search(search_store(user_id), encoder(), text, clock=now, limit=SHOWN_RECENT + SHOWN_RELEVANT)
    return [hit.message for hit in found.hits]


@cache
def _summaries() -> ExpiringCache[Summary | None]:
    return ExpiringCache(max_entries=256, ttl=timedelta(minutes=5), clock=clock)


def admin_conninfo() -> str:
    """The connection string of the database's owner; only the migrator can have it."""
    return settings().database_admin_url or conninfo_of_secret(settings().database_admin_secret)


def app_password() -> str | None:
    """The password of the application's role; None where its connection string says how it connects."""
    return None if settings().database_url else password_of_secret(settings().database_secret)


def _conninfo() -> str:
    return settings().database_url or conninfo_of_secret(settings().database_secret)
