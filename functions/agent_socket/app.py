"""The WebSocket API: who is connected, and what they say. The answers come from the worker."""

from typing import Any

from satchel import agent_wiring, wiring
from satchel.agent.exchange import Stored
from satchel.api.handler import Call
from satchel.api.socket import SocketRequest, accept, socket
from satchel.api.strict_json import parse_json
from satchel.api.validation import validate
from satchel.api.wire.chat import ChatFrame
from satchel.errors import ForbiddenError, InvalidInputError

_SCOPE = "context:write"


@socket("agent_socket", send=agent_wiring.send_frame)
def handler(request: SocketRequest, call: Call) -> dict[str, Any]:
    """Connect, disconnect, or take a message."""
    store = agent_wiring.agent_store(call.user_id)
    if request.route == "$connect":
        store.add_connection(request.connection_id, now=wiring.clock())
        for turn in store.undelivered():
            agent_wiring.worker_queue().send(
                user_id=call.user_id, turn_id=turn.turn_id, connection_id=request.connection_id
            )
        return accept(request.protocols)
    if request.route == "$disconnect":
        store.drop_connection(request.connection_id)
    elif request.route == "sendMessage":
        agent_wiring.run(_take(request, call))
    else:
        raise InvalidInputError("there are no frames of this type", field="type")
    return {"statusCode": 200}


async def _take(request: SocketRequest, call: Call) -> None:
    """Save what the user says, and queue its turn."""
    if _SCOPE not in call.principal.scopes:
        raise ForbiddenError(f"this needs the scope {_SCOPE}", scope=_SCOPE)
    given = validate(ChatFrame, parse_json(request.body))
    message_id = given.message_id or wiring.new_id()
    turn = await agent_wiring.take(
        Stored(message_id, "user", given.message),
        user_id=call.user_id,
        scopes=" ".join(sorted(call.principal.scopes)),
        session_id=given.session_id,
        channel="socket",
        reply_to=request.connection_id,
    )
    if turn.status == "done":
        agent_wiring.agent_store(call.user_id).give_back_delivery(turn.turn_id)
    agent_wiring.worker_queue().send(
        user_id=call.user_id,
        turn_id=turn.turn_id,
        connection_id=request.connection_id,
        show_context=given.show_context,
    )
