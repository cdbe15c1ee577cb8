"""`/v1/chat`, `/v1/chat/jobs/{job_id}` and `/v1/chat/links`: chat with Claude over one's own context."""

from functools import partial
from typing import Any

from satchel import agent_wiring, wiring
from satchel.agent.exchange import Stored
from satchel.agent.store import TurnRow
from satchel.api.chat_request import (
    LINKS,
    bearer_token,
    job_id_of,
    job_response,
    link_response,
    no_content,
    seconds_left,
    turn_response,
    wants_job,
)
from satchel.api.gateway_request import GatewayRequest
from satchel.api.handler import Call, route
from satchel.api.strict_json import parse_json
from satchel.api.validation import validate
from satchel.api.wire.chat import ChatArguments
from satchel.errors import NotFoundError


@route("agent_gateway", scope="context:write")
def handler(request: GatewayRequest, call: Call) -> dict[str, Any]:
    """Answer, or say how far an answer is; the caller's own token is what the user's server is shown."""
    if request.path == LINKS:
        return _link(request, call)
    if request.method == "GET":
        return agent_wiring.run(_tell_job(request, call))
    return agent_wiring.run(_chat(request, call))


async def _chat(request: GatewayRequest, call: Call) -> dict[str, Any]:
    given = validate(ChatArguments, parse_json(request.body()))
    message_id = given.message_id or wiring.new_id()
    seconds = seconds_left(request, call.remaining_ms() / 1000, wiring.clock())
    runner = await agent_wiring.runner(call, bearer_token(request), claimant=call.request_id, seconds=seconds)
    open_turn = partial(
        agent_wiring.agent_store(call.user_id).open_turn,
        wiring.new_id(),
        session_id=given.session_id,
        message_id=message_id,
        scopes=" ".join(sorted(call.principal.scopes)),
        channel="http",
        reply_to=None,
        now=wiring.clock(),
    )
    said = Stored(message_id, "user", given.message)
    answer = await runner.say(said, open_turn, given.session_id, wait=not wants_job(request))
    return turn_response(answer, show_context=given.show_context)


def _link(request: GatewayRequest, call: Call) -> dict[str, Any]:
    """Make a code that links a Telegram chat, or forget the chats that are linked."""
    links = agent_wiring.link_store(call.user_id)
    if request.method == "DELETE":
        links.unlink()
        return no_content()
    code = agent_wiring.new_code()
    expires_at = links.add_code(code, scopes=" ".join(sorted(call.principal.scopes)), now=wiring.clock())
    return link_response(code, expires_at)


async def _tell_job(request: GatewayRequest, call: Call) -> dict[str, Any]:
    turn = agent_wiring.agent_store(call.user_id).turn(job_id_of(request))
    if turn is None:
        raise NotFoundError("there is no such job", field="job_id")
    _revive(turn, call)
    if turn.status != "done":
        return job_response(turn, None)
    runner = await agent_wiring.runner(call, bearer_token(request), claimant=call.request_id)
    return job_response(turn, await runner.finished(turn))


def _revive(turn: TurnRow, call: Call) -> None:
    """Queue a turn again whose worker died without a word."""
    if turn.is_abandoned(wiring.clock()) and agent_wiring.delegation().possible:
        agent_wiring.worker_queue().send(user_id=call.user_id, turn_id=turn.turn_id)
