"""The tool and the resources of topical blocks."""

from satchel.api.catalogue import Catalogue
from satchel.api.entry import Hints, TemplateEntry, ToolEntry
from satchel.api.wire.blocks import BuildRequest
from satchel.api.wire.built_blocks import BuildResponse

ENTRIES = Catalogue(
    tools=(
        ToolEntry(
            name="build_session_blocks",
            title="Cut a session into topical blocks",
            description=(
                "Cut a chat session into topical blocks and say of each what was asked, tried and solved. Send the "
                "messages; nothing is stored. For sessions saved here read context://blocks/{session_id} instead."
            ),
            arguments=BuildRequest,
            result=BuildResponse,
            scope="context:read",
            function="build_blocks",
            hints=Hints(read_only=True, idempotent=True),
        ),
    ),
    templates=(
        TemplateEntry(
            uri_template="context://blocks/{session_id}",
            name="Session Blocks",
            description="The topical blocks of a saved session: what was asked, tried, solved and learned, with code.",
            mime_type="application/json",
            function="session_blocks",
        ),
    ),
)
