"""`POST /v1/session-blocks:ingest-message`: save one message and place it in a block of its session."""

from satchel import wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.stored_blocks import IngestRequest, IngestResponse
from satchel.blocks.continuity import shipped_model
from satchel.blocks.stored import bring_up_to_date
from satchel.memory.saving import save_message


@tool("ingest_message", IngestRequest, scope="context:write")
def handler(request: IngestRequest, call: Call) -> IngestResponse:
    """Save the message as `save_message` does, then bring its session's blocks up to date by the rules."""
    message, duplicate = save_message(
        request.message.to_new_message(request.sessionId),
        store=wiring.conversation_store(call.user_id),
        index=wiring.message_index(call.user_id, call.remaining_ms),
        clock=wiring.clock,
    )
    store = wiring.block_store(call.user_id)
    bring_up_to_date(message.session_id, store=store, continuity=shipped_model())
    return IngestResponse.of(message, store.placement(message.session_id, message.message_id), duplicate=duplicate)
