"""`search_conversation`: find the messages of the user's own history that answer a question."""

from satchel import wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.search import SearchConversationArguments, SearchConversationResult
from satchel.memory.search import search


@tool("search_conversation", SearchConversationArguments, scope="context:read")
def handler(arguments: SearchConversationArguments, call: Call) -> SearchConversationResult:
    """Search the user's messages; see `satchel.memory.search`."""
    found = search(
        wiring.search_store(call.user_id),
        wiring.encoder(),
        arguments.query,
        clock=wiring.local_clock(wiring.profile_store(call.user_id).preferences()),
        **arguments.model_dump(exclude={"query"}),
    )
    return SearchConversationResult.of(found)
