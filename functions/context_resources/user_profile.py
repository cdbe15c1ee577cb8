"""`context://user-profile`: what the user told us, and what usage shows, marked as inferred."""

from satchel import wiring
from satchel.api.handler import Call, Content, resource
from satchel.profile.preferences import profile_text
from satchel.profile.usage import infer_habits

# Habits are read from this many of the newest messages the user wrote.
_WINDOW = 1_000


@resource("user_profile", "context://user-profile")
def handler(_variables: dict[str, str], call: Call) -> Content:
    """Put the profile into words; see `satchel.profile`."""
    store = wiring.profile_store(call.user_id)
    return Content(profile_text(store.preferences(), infer_habits(store.own_messages(_WINDOW))))
