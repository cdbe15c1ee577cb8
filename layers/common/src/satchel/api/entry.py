"""What the catalogue lists: one value per tool, resource and resource template.

An entry says how a thing looks on the wire and which function serves it; it holds no behaviour of the thing.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel

from satchel.api.flat_schema import argument_schema, result_schema
from satchel.api.resource_uri import match_uri

Scope = Literal["context:read", "context:write", "trade:read", "trade:paper", "trade:live", "sandbox:run"]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Hints:
    """The MCP annotations of a tool: what a client may assume before it calls (MCP schema, `ToolAnnotations`).

    Attributes:
        read_only: Calling changes nothing.
        destructive: It may remove or overwrite what was there; only meaningful when not read-only.
        idempotent: The same call again changes nothing more.
        open_world: It reaches beyond the user's own store.
    """

    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False


@dataclass(frozen=True)
class ToolEntry:
    """One tool.

    Attributes:
        name: Unique; matches `[a-zA-Z0-9_-]{1,64}`, which every client accepts.
        title: For people, a few words.
        description: For the model: what it does and when to use it.
        arguments: The model that the function validates against; its schema is the `inputSchema`.
        result: The model of `structuredContent`; its schema is the `outputSchema`.
        scope: What a token needs.
        function: Name of the function that serves it, as in `functions/`.
        hints: The annotations.
        toolset: The named set it belongs to; only `default` is listed unless the URL asks for more.
        timeout_s: How long the adapter waits for the function, in seconds.
        paged_uri: The resource, or family of resources, under which a result that is too large can be read in pages.
    """

    name: str
    title: str
    description: str
    arguments: type[BaseModel]
    result: type[BaseModel]
    scope: Scope
    function: str
    hints: Hints = field(default_factory=Hints)
    toolset: str = "default"
    timeout_s: float = 25.0
    paged_uri: str | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"tool name {self.name!r} is one that clients refuse")

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """The flat JSON Schema of the arguments."""
        return argument_schema(self.arguments)

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """The flat JSON Schema of the result, which also admits the error object."""
        return result_schema(self.result)


@dataclass(frozen=True, slots=True)
class ResourceEntry:
    """One resource with a fixed URI.

    Attributes:
        uri: Such as `context://user-profile`.
        name: As the document names it, such as `User Profile`.
        description: One sentence for the model.
        mime_type: Of its text.
        function: Name of the function that serves it.
        scope: What a token needs.
        timeout_s: How long the adapter waits for the function, in seconds.
        paged_uri: The family of resources under which the same can be read in pages.
    """

    uri: str
    name: str
    description: str
    mime_type: str
    function: str
    scope: Scope = "context:read"
    timeout_s: float = 25.0
    paged_uri: str | None = None


@dataclass(frozen=True, slots=True)
class TemplateEntry:
    """A family of resources, by a URI template (RFC 6570: simple variables and one closing `{?query}`).

    Attributes:
        uri_template: Such as `context://conversation/{session_id}{?before,limit}`.
        name: For people.
        description: One sentence for the model.
        mime_type: Of the texts.
        function: Name of the function that serves them.
        scope: What a token needs.
        timeout_s: How long the adapter waits for the function, in seconds.
    """

    uri_template: str
    name: str
    description: str
    mime_type: str
    function: str
    scope: Scope = "context:read"
    timeout_s: float = 25.0

    def matches(self, uri: str) -> bool:
        """Whether `uri` belongs to this family.

        Raises:
            InvalidInputError: A query variable stands twice, or the text is not UTF-8 once decoded.
        """
        return match_uri(self.uri_template, uri) is not None
