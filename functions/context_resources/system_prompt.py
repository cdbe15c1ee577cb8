"""`context://system-prompt`: the user's own instructions, which an agent appends last."""

from satchel import wiring
from satchel.api.handler import Call, Content, resource
from satchel.profile.preferences import system_prompt_text


@resource("system_prompt", "context://system-prompt")
def handler(_variables: dict[str, str], call: Call) -> Content:
    """The instructions as they were written."""
    return Content(system_prompt_text(wiring.profile_store(call.user_id).preferences()))
