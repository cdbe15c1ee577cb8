"""The tools of all upstream servers, under names of our own. A bad one is left out with a warning, the rest stay."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from satchel.errors import DeadlineError, UnavailableError
from satchel.upstream.configuration import Upstream
from satchel.upstream.naming import mapped_names

MAX_TOOLS = 500
_DESCRIPTION_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class UpstreamTool:
    """A tool of an upstream server.

    Attributes:
        name: What it is called here.
        server: The server's name.
        original: What it is called there.
        title: For people.
        description: For the model.
        input_schema: Its arguments, flat.
        annotations: Its own hints.
    """

    name: str
    server: str
    original: str
    title: str
    description: str
    input_schema: dict[str, Any]
    annotations: Mapping[str, Any]


def list_upstream_tools(
    upstreams: Sequence[Upstream],
    *,
    fetch: Callable[[Upstream], list[dict[str, Any]]],
    flatten: Callable[[Mapping[str, Any]], dict[str, Any]],
) -> tuple[list[UpstreamTool], list[str]]:
    """All tools in the servers' order, at most 500, and a warning for each server or tool that was left out.

    Args:
        upstreams: The servers.
        fetch: Asks a server for its tools.
        flatten: Writes a schema without references; raises ValueError where it cannot.
    """
    warnings: list[str] = []
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for upstream in upstreams:
        try:
            tools = fetch(upstream)
        except (UnavailableError, DeadlineError) as error:
            warnings.append(error.message)
            continue
        for tool in tools:
            name = tool.get("name")
            schema = tool.get("inputSchema")
            if not isinstance(name, str) or not name or not isinstance(schema, dict):
                warnings.append(f"a tool of {upstream.name} has no name or no schema")
                continue
            try:
                flat = {**tool, "inputSchema": flatten(cast("dict[str, Any]", schema))}
            except ValueError:
                warnings.append(f"the schema of a tool of {upstream.name} cannot be written flat")
                continue
            if (upstream.name, name) in found:
                warnings.append(f"{upstream.name} names a tool twice")
                continue
            found[upstream.name, name] = flat
    listed = [
        _tool(name, server, original, found[server, original])
        for name, (server, original) in mapped_names(found).items()
    ]
    if len(listed) > MAX_TOOLS:
        warnings.append(f"only the first {MAX_TOOLS} of {len(listed)} tools are offered")
    return listed[:MAX_TOOLS], warnings


def _tool(name: str, server: str, original: str, tool: Mapping[str, Any]) -> UpstreamTool:
    return UpstreamTool(
        name=name,
        server=server,
        original=original,
        title=str(tool.get("title") or f"{server}: {original}")[:200],
        description=str(tool.get("description") or f"The tool {original} of {server}.")[:_DESCRIPTION_CHARS],
        input_schema=tool["inputSchema"],
        annotations=cast("Mapping[str, Any]", tool.get("annotations") or {}),
    )
