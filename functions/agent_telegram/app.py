"""`POST /v1/telegram`: what people write to the bot. The answers come from the worker."""

from typing import Any

from satchel import agent_wiring, wiring
from satchel.agent.exchange import Stored
from satchel.agent.links import Link, find_link, use_code
from satchel.api.gateway_request import GatewayRequest
from satchel.api.handler import open_route
from satchel.api.strict_json import parse_json
from satchel.api.telegram import TelegramText, TelegramUpdate, check_secret, reply, taken
from satchel.api.validation import validate
from satchel.errors import ConflictError, TooLargeError

_LINKED = "This chat is linked. Say something."
_NOT_LINKED = "I do not know whose chat this is. Get a code with POST /v1/chat/links, and send me: /start CODE"


@open_route("agent_telegram")
def handler(request: GatewayRequest) -> dict[str, Any]:
    """Take an update, once, and fast: Telegram sends again what is not taken."""
    check_secret(request, agent_wiring.telegram_secrets().webhook_secret)
    sent = TelegramText.of(validate(TelegramUpdate, parse_json(request.body())))
    if sent is None:
        return taken()
    if sent.code:
        linked = use_code(wiring.database(), sent.code, sent.chat_id, now=wiring.clock())
        return reply(sent.chat_id, _LINKED if linked else _NOT_LINKED)
    link = find_link(wiring.database(), sent.chat_id)
    if link is None:
        return reply(sent.chat_id, _NOT_LINKED)
    if sent.code is not None:
        return reply(sent.chat_id, _LINKED)
    try:
        agent_wiring.run(_take(sent, link))
    except (ConflictError, TooLargeError) as error:
        # Nothing that Telegram could mend: it would send this again and again, and nothing that comes after it.
        return reply(sent.chat_id, f"I could not take this: {error.message}")
    return taken()


async def _take(sent: TelegramText, link: Link) -> None:
    """Save what the user wrote, and queue its turn; the same update again is the same turn."""
    turn = await agent_wiring.take(
        Stored(sent.message_id, "user", sent.text),
        user_id=link.user_id,
        scopes=link.scopes,
        session_id=sent.session_id,
        channel="telegram",
        reply_to=sent.chat_id,
    )
    agent_wiring.worker_queue().send(user_id=link.user_id, turn_id=turn.turn_id)
