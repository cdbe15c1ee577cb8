"""Goes on with turns that did not fit into a request. It is handed ids, and reads the rest as the user."""

from typing import Any

from satchel import agent_wiring
from satchel.agent.store import TurnRow
from satchel.api.handler import Call, LambdaContext
from satchel.api.job import queued_job
from satchel.api.principal import Principal


@queued_job("agent_worker")
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answer the turn that the event names, unless somebody has."""
    user_id = str(event["user_id"])
    turn = agent_wiring.agent_store(user_id).turn(str(event["turn_id"]))
    if turn is None or turn.status == "done":
        return {"answered": 0}
    return agent_wiring.run(_answer(turn, user_id, context))


async def _answer(turn: TurnRow, user_id: str, context: LambdaContext) -> dict[str, Any]:
    scopes = turn.scopes.split()
    token = agent_wiring.delegation().token(user_id, scopes)
    call = Call(Principal(user_id, frozenset(scopes)), context.aws_request_id, context.get_remaining_time_in_millis)
    runner = await agent_wiring.runner(call, token, claimant=context.aws_request_id)
    answered = not isinstance(await runner.go_on(turn), TurnRow)
    return {"answered": int(answered)}
