"""`context://conversation-summary{?query}`: the latest messages, what was said before that bears on them, the focus."""

from satchel import desk_wiring, wiring
from satchel.api.handler import Call, Content, resource
from satchel.memory.summary import summary_text


@resource("conversation_summary", "context://conversation-summary{?query}")
def handler(variables: dict[str, str], call: Call) -> Content:
    """Gather the summary (cached for as long as nothing it is made of changes) and put it into words."""
    found = wiring.summary(call.user_id, variables.get("query"))
    wording = wiring.summary_wording(call.user_id, found, call.remaining_ms)
    attempts = wiring.past_attempts(call.user_id, found)
    deeds = desk_wiring.strategy_deeds(call.user_id)
    text = summary_text(found, now=wiring.clock(), wording=wording, attempts=attempts, deeds=deeds)
    return Content(text)
