"""What a catalogue is: the entries, and the ways to find one. Those of this release are in `satchel.api.listing`."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from satchel.api.entry import ResourceEntry, TemplateEntry, ToolEntry
from satchel.errors import InvalidInputError

DEFAULT_TOOLSET = "default"


@dataclass(frozen=True)
class Catalogue:
    """All entries. Order is the order of listing; names and URIs are unique.

    Raises:
        ValueError: Two entries share a name or a URI.
    """

    tools: tuple[ToolEntry, ...] = ()
    resources: tuple[ResourceEntry, ...] = ()
    templates: tuple[TemplateEntry, ...] = ()

    def __post_init__(self) -> None:
        for keys in (
            [tool.name for tool in self.tools],
            [resource.uri for resource in self.resources],
            [template.uri_template for template in self.templates],
        ):
            if len(set(keys)) != len(keys):
                raise ValueError("the catalogue names something twice")

    @cached_property
    def _by_name(self) -> dict[str, ToolEntry]:
        return {tool.name: tool for tool in self.tools}

    @cached_property
    def _by_uri(self) -> dict[str, ResourceEntry]:
        return {resource.uri: resource for resource in self.resources}

    @cached_property
    def toolsets(self) -> tuple[str, ...]:
        """The names of all tool sets, `default` first, then by first appearance."""
        return tuple(dict.fromkeys((DEFAULT_TOOLSET, *(tool.toolset for tool in self.tools))))

    @cached_property
    def scopes(self) -> tuple[str, ...]:
        """Every scope that something here needs, sorted."""
        entries = (*self.tools, *self.resources, *self.templates)
        return tuple(sorted({entry.scope for entry in entries}))

    def tools_of(self, toolsets: Iterable[str]) -> tuple[ToolEntry, ...]:
        """Return the tools of the named sets, in catalogue order.

        Raises:
            InvalidInputError: There is no set of that name.
        """
        wanted = frozenset(toolsets)
        if unknown := sorted(wanted.difference(self.toolsets)):
            raise InvalidInputError(f"there is no tool set named {unknown[0]!r}", field="toolsets")
        return tuple(tool for tool in self.tools if tool.toolset in wanted)

    def tool(self, name: str) -> ToolEntry | None:
        """Return the tool of that name, or None."""
        return self._by_name.get(name)

    def resource(self, uri: str) -> ResourceEntry | TemplateEntry | None:
        """Return what serves `uri`: the resource with exactly this URI, else the first template that matches."""
        exact = self._by_uri.get(uri)
        return exact or next((template for template in self.templates if template.matches(uri)), None)

    @staticmethod
    def of(features: Iterable["Catalogue"]) -> "Catalogue":
        """Return one catalogue of the entries of all `features`, in their order."""
        parts = tuple(features)
        return Catalogue(
            tools=tuple(tool for part in parts for tool in part.tools),
            resources=tuple(resource for part in parts for resource in part.resources),
            templates=tuple(template for part in parts for template in part.templates),
        )
