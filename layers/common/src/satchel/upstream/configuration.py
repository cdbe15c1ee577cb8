"""The MCP servers that Satchel stands in front of, from a JSON file in the `mcpServers` form that MCP clients use."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from satchel.errors import InvalidInputError

_KEYS = frozenset({"command", "args", "env", "cwd", "url", "headers", "type", "disabled", "timeout_s"})
DEFAULT_TIMEOUT_S = 20.0
_MAX_TIMEOUT_S = 25.0


@dataclass(frozen=True, slots=True)
class Upstream:
    """One MCP server.

    Attributes:
        name: Its key in the file.
        command: Program to start, spoken to over its standard input and output; empty where `url` is given.
        args: The program's arguments.
        env: Variables added to its environment.
        url: Streamable HTTP endpoint; empty where `command` is given.
        headers: Headers of every request to it.
        timeout_s: How long one request may take, in seconds.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout_s: float = DEFAULT_TIMEOUT_S


def load_upstreams(text: str) -> tuple[Upstream, ...]:
    """The servers of a file, in its order; those with `"disabled": true` are left out.

    Raises:
        InvalidInputError: It is not JSON, or an entry is wrong. The message names the line or the field, no value.
    """
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInputError(f"upstreams, line {error.lineno}: not JSON ({error.msg})") from error
    except (RecursionError, ValueError) as error:
        raise InvalidInputError("upstreams: not JSON that can be read") from error
    servers = _object(_object(document, "the file").get("mcpServers"), "mcpServers")
    found = [_upstream(name, _object(entry, f"mcpServers.{name}")) for name, entry in servers.items()]
    return tuple(upstream for upstream in found if upstream is not None)


def _upstream(name: str, entry: Mapping[str, Any]) -> Upstream | None:
    where = f"mcpServers.{name}"
    for key in entry:
        if key not in _KEYS:
            raise InvalidInputError(f"upstreams: {where}.{key} is not a setting", field=f"{where}.{key}")
    if entry.get("disabled") is True:
        return None
    command, url = entry.get("command", ""), entry.get("url", "")
    if not isinstance(command, str) or not isinstance(url, str) or bool(command) == bool(url):
        raise InvalidInputError(f"upstreams: {where} needs either command or url", field=where)
    if url and not url.startswith(("https://", "http://")):
        raise InvalidInputError(f"upstreams: {where}.url must be an HTTP URL", field=f"{where}.url")
    timeout_s = entry.get("timeout_s", DEFAULT_TIMEOUT_S)
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, int | float) or not 0 < timeout_s <= _MAX_TIMEOUT_S:
        message = f"upstreams: {where}.timeout_s must be above 0 and at most {_MAX_TIMEOUT_S:g}"
        raise InvalidInputError(message, field=f"{where}.timeout_s")
    args = entry.get("args", [])
    if not isinstance(args, list) or not all(isinstance(arg, str) for arg in cast("list[Any]", args)):
        raise InvalidInputError(f"upstreams: {where}.args must be a list of strings", field=f"{where}.args")
    return Upstream(
        name=name,
        command=command,
        args=tuple(cast("list[str]", args)),
        env=_strings(entry.get("env", {}), f"{where}.env"),
        url=url,
        headers=_strings(entry.get("headers", {}), f"{where}.headers"),
        timeout_s=float(timeout_s),
    )


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInputError(f"upstreams: {where} must be an object", field=where)
    return cast("dict[str, Any]", value)


def _strings(value: Any, where: str) -> dict[str, str]:
    found = _object(value, where)
    if not all(isinstance(text, str) for text in found.values()):
        raise InvalidInputError(f"upstreams: {where} must hold strings", field=where)
    return found
