"""`context://blocks/{session_id}`: the topical blocks of a saved session."""

from satchel import wiring
from satchel.api.handler import Call, Content, resource
from satchel.api.wire.stored_blocks import SHOWN_BLOCKS, SessionBlocks
from satchel.blocks.continuity import shipped_model
from satchel.blocks.stored import bring_up_to_date

TEMPLATE = "context://blocks/{session_id}"


@resource("session_blocks", TEMPLATE)
def handler(variables: dict[str, str], call: Call) -> Content:
    """The newest blocks in order of time, up to date with the last message saved."""
    session_id = variables["session_id"]
    store = wiring.block_store(call.user_id)
    advisor = wiring.block_advisor(call.user_id, call.remaining_ms)
    bring_up_to_date(session_id, store=store, continuity=shipped_model(), advisor=advisor)
    blocks, has_older = store.blocks(session_id, SHOWN_BLOCKS)
    return Content(SessionBlocks.of(session_id, blocks, has_older=has_older).model_dump_json(), "application/json")
