"""A catalogue that also offers the tools of upstream servers, in a tool set of their own."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from satchel.api.catalogue import Catalogue
from satchel.api.entry import Hints, ToolEntry
from satchel.api.flat_schema import result_schema
from satchel.api.mcp.functions import Functions
from satchel.api.wire.upstream import QUESTION_ARGUMENT, UpstreamArguments, UpstreamListing, UpstreamResult
from satchel.errors import UnavailableError
from satchel.expiring_cache import ExpiringCache

TOOLSET = "upstream"
FUNCTION = "upstream_tool"
LIST = "upstream_tools"
# The time that the function has; the upstream's own limit is below it.
TIMEOUT_S = 28.0
_QUESTION = {
    "type": "string",
    "description": "What the user asked, in their words: the answer is cut to what it needs.",
}


@dataclass(frozen=True)
class UpstreamEntry(ToolEntry):
    """A tool of an upstream server.

    Attributes:
        own_schema: The flat schema of its arguments.
    """

    own_schema: dict[str, Any] = field(default_factory=dict[str, Any])

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """The upstream's schema, with the question that it never sees."""
        properties = {**self.own_schema.get("properties", {}), QUESTION_ARGUMENT: _QUESTION}
        return {**self.own_schema, "properties": properties}

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """What a filtered answer looks like."""
        return result_schema(UpstreamResult)


class UpstreamTools:
    """The upstream tools, asked for when somebody wants them.

    Args:
        functions: Who knows them.
        kept: Keeps them for a while.
    """

    def __init__(self, functions: Functions, kept: ExpiringCache[tuple[UpstreamEntry, ...]]) -> None:
        self._functions = functions
        self._kept = kept

    def entries(self) -> tuple[UpstreamEntry, ...]:
        """All of them, in the order of the configuration.

        Raises:
            UnavailableError: They cannot be asked for now.
        """
        return self._kept.get_or_make(TOOLSET, self._fetch)

    def _fetch(self) -> tuple[UpstreamEntry, ...]:
        request = {
            # What is listed is the same for everybody: no user is named.
            "principal": {"user_id": "catalogue", "scopes": ["context:read"]},
            "tool": LIST,
            "arguments": {},
            "request_id": LIST,
        }
        answer = self._functions.invoke(FUNCTION, request, timeout_s=TIMEOUT_S)
        if "structuredContent" not in answer:
            raise UnavailableError("the upstream tools cannot be listed now")
        listing = UpstreamListing.model_validate(answer["structuredContent"])
        return tuple(
            UpstreamEntry(
                name=tool.name,
                title=tool.title,
                description=tool.description,
                arguments=UpstreamArguments,
                result=UpstreamResult,
                scope="context:write",
                function=FUNCTION,
                hints=Hints(
                    read_only=tool.read_only,
                    destructive=tool.destructive,
                    idempotent=tool.idempotent,
                    open_world=True,
                ),
                toolset=TOOLSET,
                timeout_s=TIMEOUT_S,
                paged_uri="context://filtered/{handle}{?cursor,query}",
                own_schema=tool.input_schema,
            )
            for tool in listing.tools
        )


@dataclass(frozen=True)
class ProxyCatalogue(Catalogue):
    """The catalogue of this release and the tools of the upstream servers.

    Attributes:
        upstream: The upstream tools.
    """

    upstream: UpstreamTools | None = None

    @cached_property
    def toolsets(self) -> tuple[str, ...]:
        """The tool sets of this release, and `upstream`."""
        return (*super().toolsets, TOOLSET)

    def tools_of(self, toolsets: Iterable[str]) -> tuple[ToolEntry, ...]:
        """As in `Catalogue.tools_of`; the upstream tools come last."""
        wanted = tuple(toolsets)
        own = super().tools_of(wanted)
        if TOOLSET not in wanted or self.upstream is None:
            return own
        return (*own, *self.upstream.entries())

    def tool(self, name: str) -> ToolEntry | None:
        """As in `Catalogue.tool`; our own names win, and only names of the mapped form are looked for upstream."""
        own = super().tool(name)
        if own is not None or self.upstream is None or "__" not in name:
            return own
        return next((entry for entry in self.upstream.entries() if entry.name == name), None)
