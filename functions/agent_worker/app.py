"""Goes on with turns that did not fit into a request, and delivers answers. It is handed ids, and reads the rest."""

from typing import Any

from satchel import agent_wiring
from satchel.agent.ports import Silence
from satchel.agent.store import TurnRow
from satchel.api.handler import Call, LambdaContext
from satchel.api.job import queued_job
from satchel.api.principal import Principal
from satchel.gateway.delivery import Delivery


@queued_job("agent_worker")
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answer the turn that the event names, unless somebody has, and deliver its answer where the event says."""
    user_id = str(event["user_id"])
    turn = agent_wiring.agent_store(user_id).turn(str(event["turn_id"]))
    connection_id = event.get("connection_id")
    if turn is None or (turn.status == "done" and connection_id is None and turn.channel != "telegram"):
        return {"answered": 0}
    return agent_wiring.run(_answer(turn, user_id, connection_id, context))


async def _answer(turn: TurnRow, user_id: str, connection_id: str | None, context: LambdaContext) -> dict[str, Any]:
    scopes = turn.scopes.split()
    token = agent_wiring.delegation().token(user_id, scopes)
    call = Call(Principal(user_id, frozenset(scopes)), context.aws_request_id, context.get_remaining_time_in_millis)
    delivery = agent_wiring.delivery(user_id, turn, connection_id)
    listener = delivery.listener if delivery else Silence()
    runner = await agent_wiring.runner(call, token, claimant=context.aws_request_id, listener=listener)
    if turn.status == "done":
        answer = await runner.finished(turn)
    else:
        with (delivery or Delivery.nowhere()).of_failure():
            answer = await runner.go_on(turn)
    if isinstance(answer, TurnRow):
        return {"answered": 0}
    if delivery:
        delivery.deliver(answer)
    return {"answered": 1}
