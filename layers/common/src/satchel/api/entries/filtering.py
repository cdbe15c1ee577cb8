"""The tool that filters, and what it cut."""

from satchel.api.catalogue import Catalogue
from satchel.api.entry import Hints, TemplateEntry, ToolEntry
from satchel.api.wire.filtering import FilterArguments, FilterResult

ENTRIES = Catalogue(
    tools=(
        ToolEntry(
            name="filter_response",
            title="Filter a tool's answer",
            description=(
                "Cut a long answer of another tool to what the user's question needs, with secrets and personal data "
                "redacted. Give the tool, its arguments, its response and the question. What was cut is counted by "
                "reason and can be read under the returned handle for 24 hours."
            ),
            arguments=FilterArguments,
            result=FilterResult,
            scope="context:write",
            function="filter_response",
            timeout_s=25.0,
            paged_uri="context://filtered/{handle}{?cursor,query}",
            hints=Hints(),
        ),
    ),
    templates=(
        TemplateEntry(
            uri_template="context://filtered/{handle}{?cursor,query}",
            name="Filtered Out",
            description="What the filter cut from a tool's answer, best first; a query puts what answers to it first.",
            mime_type="application/json",
            function="filtered",
        ),
    ),
)
