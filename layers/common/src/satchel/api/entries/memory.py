"""The tools that keep and find messages."""

from satchel.api.catalogue import Catalogue
from satchel.api.entry import Hints, ToolEntry
from satchel.api.wire.memory import SaveMessageArguments, SaveMessageResult

ENTRIES = Catalogue(
    tools=(
        ToolEntry(
            name="save_message",
            title="Save a message",
            description=(
                "Keep one message of a conversation word for word, so that it can be found again. Save what the user "
                "says and what you answer. Sending the same message_id again with the same content is safe."
            ),
            arguments=SaveMessageArguments,
            result=SaveMessageResult,
            scope="context:write",
            function="save_message",
            hints=Hints(idempotent=True),
            timeout_s=15.0,
        ),
    ),
)
