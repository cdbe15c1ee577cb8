"""Which tool goes where, and under what name the model knows it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

# What the gateway does itself, around every message and every result of a tool.
KEPT_BACK = frozenset({"save_message", "filter_response"})
PLATFORM_SERVER = "platform"
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")
_MAX_NAME = 64


@dataclass(frozen=True)
class Tool:
    """One tool as a server lists it.

    Attributes:
        server: The server's name in the configuration; `user` is the user's own, `platform` the gateway.
        name: Its name there.
        description: For the model.
        input_schema: JSON Schema of its arguments.
        read_only: Whether calling it changes nothing.
    """

    server: str
    name: str
    description: str
    input_schema: Mapping[str, Any]
    read_only: bool = False


@dataclass(frozen=True)
class Toolbox:
    """All tools of a turn, by the name the model knows them by; the order is the servers' own."""

    by_name: Mapping[str, Tool]

    @property
    def definitions(self) -> list[dict[str, Any]]:
        """For the request: the same bytes for the same tools, in every process."""
        return [
            {"name": name, "description": tool.description, "input_schema": _ordered(tool.input_schema)}
            for name, tool in self.by_name.items()
        ]


def toolbox(servers: Iterable[Sequence[Tool]]) -> Toolbox:
    """Give every tool a legal and unique name.

    A name that is legal and free stays as it is; others are spelled with `_`, after their server's name where that is
    needed, and with a mark made of both where even that is taken. A tool whose schema is no object is left out.

    Args:
        servers: The tools of each server; earlier servers choose first.
    """
    named: dict[str, Tool] = {}
    for tools in servers:
        for tool in tools:
            if tool.name in KEPT_BACK or tool.input_schema.get("type") != "object":
                continue
            named[_name(tool, named)] = tool
    return Toolbox(named)


def _name(tool: Tool, taken: Mapping[str, Tool]) -> str:
    plain = _ILLEGAL.sub("_", tool.name)[:_MAX_NAME]
    if plain and plain not in taken:
        return plain
    qualified = _ILLEGAL.sub("_", f"{tool.server}__{tool.name}")[:_MAX_NAME]
    if qualified not in taken:
        return qualified
    mark = sha256(f"{tool.server}\0{tool.name}".encode()).hexdigest()[:8]
    return f"{qualified[: _MAX_NAME - 9]}_{mark}"


def _ordered(value: Any) -> Any:
    """`value` with the keys of every object sorted: servers may list them as they like, the cache reads bytes."""
    if isinstance(value, Mapping):
        return {key: _ordered(value[key]) for key in sorted(value)}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list):
        return [_ordered(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value
