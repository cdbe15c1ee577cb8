"""Goes on with turns that did not fit into a request, and delivers answers. It is handed ids, and reads the rest."""

from typing import Any

from satchel import agent_wiring
from satchel.agent.store import TurnRow
from satchel.api.handler import Call, LambdaContext
from satchel.api.job import QueuedTask, queue_worker
from satchel.api.principal import Principal
from satchel.gateway.chatting import LEASE_S


@queue_worker("agent_worker")
def handler(task: QueuedTask, context: LambdaContext) -> dict[str, Any]:
    """Answer the turn that the task names, unless somebody has, and deliver its answer where the task says."""
    user_id = str(task.ids["user_id"])
    turn = agent_wiring.agent_store(user_id).turn(str(task.ids["turn_id"]))
    wanted = task.ids.get("connection_id") is not None
    if turn is None or (turn.status == "done" and not wanted and turn.channel != "telegram"):
        return {"answered": 0}
    # Whatever goes wrong from here on, the task is back soon.
    agent_wiring.worker_queue().keep(task.receipt, LEASE_S)
    return agent_wiring.run(_answer(turn, user_id, task, context))


async def _answer(turn: TurnRow, user_id: str, task: QueuedTask, context: LambdaContext) -> dict[str, Any]:
    scopes = turn.scopes.split()
    token = agent_wiring.delegation().token(user_id, scopes)
    call = Call(Principal(user_id, frozenset(scopes)), context.aws_request_id, context.get_remaining_time_in_millis)
    connection_id, show_context = task.ids.get("connection_id"), bool(task.ids.get("show_context"))
    delivery = agent_wiring.delivery(user_id, turn, connection_id, show_context=show_context, attempt=task.attempt)
    runner = await agent_wiring.runner(
        call, token, claimant=context.aws_request_id, listener=delivery.listener, receipt=task.receipt
    )
    if turn.status == "done":
        answer = await runner.finished(turn)
    else:
        with delivery.of_failure():
            answer = await runner.go_on(turn)
    if isinstance(answer, TurnRow):
        return {"answered": 0}
    delivery.deliver(answer)
    return {"answered": 1}
