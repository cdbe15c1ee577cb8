"""The context resources that a gateway reads before every model call, named as in the document."""

from satchel.api.catalogue import Catalogue
from satchel.api.entry import ResourceEntry, TemplateEntry

ENTRIES = Catalogue(
    resources=(
        ResourceEntry(
            uri="context://user-profile",
            name="User Profile",
            description="What is known of the user: stored preferences, and facts inferred from use, marked as such.",
            mime_type="text/plain",
            function="user_profile",
        ),
        ResourceEntry(
            uri="context://conversation-summary",
            name="Conversation Summary",
            description="The latest messages in short, related past discussions with their age, and the current focus.",
            mime_type="text/plain",
            function="conversation_summary",
        ),
        ResourceEntry(
            uri="context://workspace-state",
            name="Workspace State",
            description="The current chart, watchlist, open positions and recent alerts.",
            mime_type="application/json",
            function="workspace_state",
        ),
        ResourceEntry(
            uri="context://system-prompt",
            name="Custom System Prompt",
            description="The user's own instructions, to be appended last to the system prompt.",
            mime_type="text/plain",
            function="system_prompt",
        ),
    ),
    templates=(
        TemplateEntry(
            uri_template="context://conversation-summary{?query}",
            name="Conversation Summary for a query",
            description="The conversation summary with past discussions related to `query`.",
            mime_type="text/plain",
            function="conversation_summary",
        ),
        TemplateEntry(
            uri_template="context://conversation/{session_id}{?before,limit}",
            name="Conversation",
            description="The messages of one session word for word, newest page first; each page names the next.",
            mime_type="application/json",
            function="conversation",
        ),
    ),
)
