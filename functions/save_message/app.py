"""`save_message`: keep one message of the conversation, verbatim, and make it searchable."""

from satchel import wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.memory import MessageOut, SaveMessageArguments, SaveMessageResult
from satchel.memory.saving import save_message


@tool("save_message", SaveMessageArguments, scope="context:write")
def handler(arguments: SaveMessageArguments, call: Call) -> SaveMessageResult:
    """Save the message; see `satchel.memory.saving`."""
    message, duplicate = save_message(
        arguments.to_message(new_id=wiring.new_id()),
        store=wiring.conversation_store(call.user_id),
        index=wiring.message_index(call.user_id, call.remaining_ms),
        clock=wiring.clock,
    )
    return SaveMessageResult(message=MessageOut.of(message), duplicate=duplicate)
