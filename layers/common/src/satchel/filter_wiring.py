"""From settings to what the response filter needs. Apart from `wiring`, so that each loads only its own."""

import secrets
from datetime import timedelta
from functools import cache
from pathlib import Path
from time import monotonic, perf_counter
from typing import TYPE_CHECKING

from satchel.api.handler import Call
from satchel.api.wire.filtering import ConfigIn
from satchel.aws_secret import read_secret
from satchel.expiring_cache import ExpiringCache
from satchel.filtering.engine import FilterEngine
from satchel.filtering.intent import Intent
from satchel.filtering.sanitiser.configuration import parse
from satchel.filtering.sanitiser.sanitiser import Sanitiser
from satchel.filtering.store import FilterStore
from satchel.filtering.token_estimate import TokenCounter, by_counting
from satchel.filtering.tool_profiles import ToolProfiles, default_profiles, load_profiles
from satchel.wiring import clock, database, settings

if TYPE_CHECKING:
    from satchel.filtering.model_questions import ModelReader
    from satchel.llm.structured import StructuredModel

# Kept back from the time that Lambda gives us, for the answer itself.
_RESERVE_S = 3.0
_HANDLE_BYTES = 12


def new_handle() -> str:
    """An unguessable name."""
    return secrets.token_urlsafe(_HANDLE_BYTES)


@cache
def profiles() -> ToolProfiles:
    """The tool profiles: those of the file that the settings name, else the ones that ship."""
    path = settings().filter_profiles
    return load_profiles(Path(path).read_text(encoding="utf-8"), source=Path(path).name) if path else default_profiles()


@cache
def known_intents() -> ExpiringCache[Intent]:
    """What rules have read of calls, under digests of those."""
    return ExpiringCache(max_entries=512, ttl=timedelta(minutes=10), clock=clock)


@cache
def _default_sanitiser() -> Sanitiser:
    return Sanitiser()


def sanitiser(config: ConfigIn | None = None) -> Sanitiser:
    """The sanitiser with a request's own patterns; the process's one where it has none."""
    if config is None or not config.model_fields_set & {
        "pii_detection", "redact_patterns", "allowlist", "redaction_strategy",
    }:  # fmt: skip
        return _default_sanitiser()
    return Sanitiser(parse(config.sanitiser_settings()))


def filter_store(user_id: str) -> FilterStore:
    """What the filter keeps for one user."""
    return FilterStore(database(), user_id)


def engine(tool_name: str, config: ConfigIn, reader: "ModelReader | None") -> FilterEngine:
    """The filter for one request."""
    return FilterEngine(
        profile=profiles().of_tool(tool_name),
        sanitiser=sanitiser(config),
        timer=perf_counter,
        judge=reader.judge if reader else None,
        summariser=reader.summarise if reader else None,
        count_tokens=_token_counter(config),
    )


def _token_counter(config: ConfigIn) -> TokenCounter | None:
    if config.token_encoding == "bytes":  # noqa: S105 - a choice, no password
        return None
    from satchel.filtering.o200k.counting import count_tokens  # noqa: PLC0415 - 0.1 s, only where it is asked for

    return by_counting(count_tokens, config.token_encoding)


def model_reader(tool_name: str, config: ConfigIn, call: Call) -> "ModelReader | None":
    """Who asks a language model for one request; None where none is configured."""
    model = _model()
    if model is None:
        return None
    from satchel.filtering.model_questions import ModelReader  # noqa: PLC0415 - only with a model
    from satchel.llm.store import LedgerStore  # noqa: PLC0415

    deadline = monotonic() + call.remaining_ms() / 1_000 - _RESERVE_S
    return ModelReader(
        model=model,
        ledger=LedgerStore(database(), call.user_id),
        sanitiser=sanitiser(config),
        profile=profiles().of_tool(tool_name),
        tool_name=tool_name,
        seconds_left=lambda: deadline - monotonic(),
        prompt_template=config.prompt_template,
    )


@cache
def _model() -> "StructuredModel | None":
    provider = settings().llm
    if provider == "none":
        return None
    from satchel.llm.claude import ClaudeModel, anthropic_client, bedrock_client  # noqa: PLC0415 - only with a model

    if provider == "bedrock":
        return ClaudeModel(settings().llm_model, bedrock_client)
    secret = settings().anthropic_secret
    return ClaudeModel(settings().llm_model, lambda: anthropic_client(lambda: read_secret(secret) if secret else ""))
