"""The tools that keep and find messages."""

from satchel.api.catalogue import Catalogue
from satchel.api.entry import Hints, ToolEntry
from satchel.api.wire.memory import SaveMessageArguments, SaveMessageResult
from satchel.api.wire.search import SearchConversationArguments, SearchConversationResult

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
        ),
        ToolEntry(
            name="search_conversation",
            title="Search the conversation",
            description=(
                "Find what was said before, in this or any earlier conversation. Ask in plain words, in any language "
                "(`what did we decide about position size?`, `what did I say last Tuesday?`). Every hit has a score, "
                "the probability that it answers; nothing relevant gives an empty list."
            ),
            arguments=SearchConversationArguments,
            result=SearchConversationResult,
            scope="context:read",
            function="search_conversation",
            hints=Hints(read_only=True, idempotent=True),
        ),
    ),
)
