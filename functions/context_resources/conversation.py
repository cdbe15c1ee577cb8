"""`context://conversation/{session_id}{?before,limit}`: one session word for word, in pages."""

from satchel import wiring
from satchel.api.handler import Call, Content, resource
from satchel.api.wire.conversation import ConversationPage, PageVariables

TEMPLATE = "context://conversation/{session_id}{?before,limit}"


@resource("conversation", TEMPLATE)
def handler(variables: dict[str, str], call: Call) -> Content:
    """One page, its messages oldest first; `next` is the URI of the page before it in time."""
    page = PageVariables.read(variables)
    messages = wiring.conversation_store(call.user_id).session_page(
        page.session_id, before=page.before, limit=page.limit + 1
    )
    return Content(ConversationPage.of(page, messages).model_dump_json(), "application/json")
