"""From settings to the agent gateway. Apart from `wiring`, so that each loads only its own."""

import asyncio
import json
import secrets
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, partial
from time import monotonic
from typing import Any, TypeVar
from urllib.parse import urlencode

from satchel.agent.budget import Budget
from satchel.agent.exchange import Stored
from satchel.agent.links import LinkStore
from satchel.agent.ports import ChatModel, Listener, Silence
from satchel.agent.store import AgentStore, Channel, TurnRow
from satchel.agent.turn import Assistant, Limits
from satchel.api.chat_request import done_fields
from satchel.api.error_table import error_body, wire_of
from satchel.api.handler import Call
from satchel.api.socket import frame
from satchel.aws_secret import read_secret
from satchel.errors import UnavailableError
from satchel.gateway.chatting import Runner
from satchel.gateway.connections import Connections, GoneError
from satchel.gateway.delegation import Delegation
from satchel.gateway.delivery import Delivery
from satchel.gateway.platform_tools import platform_tools
from satchel.gateway.pool import LinkPool
from satchel.gateway.queue import MOST_ATTEMPTS, WorkerQueue
from satchel.gateway.telegram import TelegramBot, TelegramDelivery
from satchel.gateway.user_server import McpUserServer
from satchel.wiring import clock, database, new_id, settings

Result = TypeVar("Result")

# Kept back from the time that Lambda gives us: to hand a turn on and to answer.
_RESERVE_S = 5.0


@cache
def _loop() -> "asyncio.Runner":
    """The one event loop of this process: clients that live on it stay good from one invocation to the next."""
    return asyncio.Runner()


def run(work: Awaitable[Result]) -> Result:
    """Run `work` on the process's loop."""

    async def awaited() -> Result:
        return await work

    return _loop().run(awaited())


def close() -> None:
    """Close the clients and the loop; only tests do, a Lambda is simply frozen."""
    run(_links().close())
    _loop().close()


def agent_store(user_id: str) -> AgentStore:
    """Turns and connections of one user."""
    return AgentStore(database(), user_id)


@cache
def delegation() -> Delegation:
    """Where tokens for later come from."""
    chosen = settings()
    return Delegation(
        token_url=chosen.token_url,
        client_id=chosen.gateway_client,
        key=lambda: chosen.gateway_key or read_secret(chosen.gateway_secret),
        resource=_mcp_url(),
    )


@cache
def worker_queue() -> WorkerQueue:
    """The worker's queue."""
    return WorkerQueue(settings().agent_queue)


def model_of(user_id: str) -> str:
    """The model that a user's chats ask."""
    own = {user: model for user, _, model in (pair.partition("=") for pair in settings().agent_user_models)}
    return own.get(user_id) or settings().agent_model


async def user_server(user_id: str, token: str) -> McpUserServer:
    """The server of one user, spoken to with the user's token."""
    toolsets = urlencode({"toolsets": ",".join(settings().agent_toolsets)}, safe=",")
    link = await _links().link(user_id, f"{_mcp_url()}?{toolsets}")
    link.authorise(token)
    return McpUserServer(link, platform=platform_tools(clock))


async def take(
    said: Stored, *, user_id: str, scopes: str, session_id: str, channel: Channel, reply_to: str | None
) -> TurnRow:
    """Save what a user says who does not wait for the answer, and open its turn: the same message, the same turn.

    Args:
        said: The message.
        user_id: Who says it.
        scopes: What they may do, by name, separated by spaces.
        session_id: Its conversation.
        channel: How it came.
        reply_to: Where the answer goes.
    """
    server = await user_server(user_id, delegation().token(user_id, scopes.split()))
    await server.save(session_id, said)
    return agent_store(user_id).open_turn(
        new_id(),
        session_id=session_id,
        message_id=said.message_id,
        scopes=scopes,
        channel=channel,
        reply_to=reply_to,
        now=clock(),
    )


def assistant(server: McpUserServer, user_id: str, *, seconds: float, listener: Listener | None = None) -> Assistant:
    """Who answers the user's turns.

    Args:
        server: The user's servers.
        user_id: The user.
        seconds: How long this process lives.
        listener: Is told what happens.
    """
    deadline = monotonic() + seconds - _RESERVE_S
    return Assistant(
        server=server,
        model=_model(),
        model_name=model_of(user_id),
        clock=clock,
        seconds_left=lambda: deadline - monotonic(),
        limits=_limits(),
        listener=listener or Silence(),
    )


async def runner(
    call: Call,
    token: str,
    *,
    claimant: str,
    listener: Listener | None = None,
    seconds: float | None = None,
    receipt: str | None = None,
) -> Runner:
    """Who runs turns of the caller, with the caller's token.

    Args:
        call: The request.
        token: The caller's token, or one made for them.
        claimant: The id of this invocation.
        listener: Is told what happens.
        seconds: How long somebody waits for the answer; None for as long as this invocation lives.
        receipt: Of the queue's message that the turn came with.
    """
    server = await user_server(call.user_id, token)
    waits_s = call.remaining_ms() / 1000 if seconds is None else seconds

    def hand_on(turn: TurnRow) -> None:
        worker_queue().send(user_id=call.user_id, turn_id=turn.turn_id)

    return Runner(
        server=server,
        store=agent_store(call.user_id),
        run=lambda turn: assistant(server, call.user_id, seconds=waits_s, listener=listener).answer(turn),
        claimant=claimant,
        clock=clock,
        code_of=lambda error: wire_of(error).code,
        model=model_of(call.user_id),
        hand_on=hand_on if delegation().possible else None,
        meanwhile=partial(worker_queue().keep, receipt) if receipt else lambda _seconds: worker_queue().prepare(),
    )


@dataclass(frozen=True)
class TelegramSecrets:
    """What Telegram and we know of each other: the bot's token, and the secret it sends along."""

    token: str
    webhook_secret: str


@cache
def telegram_secrets() -> TelegramSecrets:
    """The secrets of the bot; empty ones where there is no bot."""
    chosen = settings()
    if chosen.telegram_secret:
        return TelegramSecrets(**json.loads(read_secret(chosen.telegram_secret)))
    return TelegramSecrets(chosen.telegram_token, chosen.telegram_webhook_secret)


@cache
def _telegram_bot() -> TelegramBot:
    return TelegramBot(settings().telegram_url, lambda: telegram_secrets().token)


def link_store(user_id: str) -> LinkStore:
    """The chats that one user has linked."""
    return LinkStore(database(), user_id)


def new_code() -> str:
    """An unguessable code, of characters that `/start` takes."""
    return secrets.token_urlsafe(24)


@cache
def connections() -> Connections:
    """The clients of the WebSocket API."""
    return Connections(settings().socket_url)


def send_frame(connection_id: str, text: str) -> None:
    """Send a frame to a client, if it is still there."""
    with suppress(GoneError):
        connections().send(connection_id, text)


def delivery(
    user_id: str, turn: TurnRow, connection_id: str | None, *, show_context: bool = False, attempt: int = 1
) -> Delivery | TelegramDelivery:
    """The way of a turn's answer to the user's socket or chat, or nowhere: then it is fetched.

    Args:
        user_id: The user.
        turn: The turn.
        connection_id: Where it is wanted now.
        show_context: Whether the context that was used is wanted, too.
        attempt: The how-many-th time the turn is tried.
    """
    store = agent_store(user_id)
    if turn.channel == "telegram" and turn.reply_to is not None:
        return TelegramDelivery(
            partial(_telegram_bot().send, turn.reply_to),
            claim=lambda: store.claim_delivery(turn.turn_id, now=clock()),
            give_back=lambda: store.give_back_delivery(turn.turn_id),
            last=attempt >= MOST_ATTEMPTS,
        )
    if connection_id is None:
        return Delivery.nowhere()
    named = {"session_id": turn.session_id, "message_id": turn.message_id}

    def send(place: str, kind: str, **fields: Any) -> None:
        connections().send(place, frame(kind, **named, **fields))

    return Delivery(
        connection_id,
        others=store.connections,
        send=send,
        tell=lambda answer: done_fields(answer, show_context=show_context),
        fail=lambda error: {"error": error_body(error, turn.turn_id)},
        claim=lambda: store.claim_delivery(turn.turn_id, now=clock()),
        give_back=lambda: store.give_back_delivery(turn.turn_id),
    )


@cache
def _model() -> ChatModel:
    from satchel.gateway.claude import (  # noqa: PLC0415 - only where somebody chats
        ClaudeChat,
        anthropic_chat_client,
        bedrock_chat_client,
    )

    provider = settings().agent_llm
    if provider == "none":
        raise UnavailableError("no language model is configured for chats", retry_after_s=3600)
    if provider == "bedrock":
        return ClaudeChat(bedrock_chat_client)
    secret = settings().anthropic_secret
    return ClaudeChat(lambda: anthropic_chat_client(lambda: read_secret(secret) if secret else ""))


@cache
def _limits() -> Limits:
    chosen = settings()
    return Limits(Budget(int(chosen.agent_max_calls), int(chosen.agent_max_tokens), Decimal(chosen.agent_max_usd)))


@cache
def _links() -> LinkPool:
    return LinkPool()


def _mcp_url() -> str:
    return settings().resource_url.replace(",", " ").split()[0]
