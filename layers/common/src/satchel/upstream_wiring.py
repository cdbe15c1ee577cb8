"""From settings to the MCP servers that Satchel stands in front of."""

from datetime import timedelta
from functools import cache
from pathlib import Path
from time import monotonic

from satchel.api.flat_schema import foreign_schema
from satchel.api.handler import Call
from satchel.aws_secret import read_secret
from satchel.errors import NotFoundError, UnavailableError
from satchel.expiring_cache import ExpiringCache
from satchel.upstream.client import list_tools, with_tool
from satchel.upstream.configuration import Upstream, load_upstreams
from satchel.upstream.listing import UpstreamTool, list_upstream_tools
from satchel.upstream.results import UpstreamAnswer, drain
from satchel.wiring import clock, settings

_KEPT_FOR = timedelta(minutes=5)
# Kept back from the time that Lambda gives us, for filtering and the answer.
_RESERVE_S = 5.0

Listing = tuple[list[UpstreamTool], list[str]]


@cache
def upstreams() -> tuple[Upstream, ...]:
    """The configured servers; none where nothing is configured."""
    if settings().upstreams:
        return load_upstreams(Path(settings().upstreams).read_text(encoding="utf-8"))
    return load_upstreams(read_secret(settings().upstreams_secret)) if settings().upstreams_secret else ()


@cache
def _listings() -> ExpiringCache[Listing]:
    return ExpiringCache(max_entries=1, ttl=_KEPT_FOR, clock=clock)


def listing() -> Listing:
    """All upstream tools and what was left out; kept for five minutes, unless something was left out."""
    cached = _listings()
    found = cached.get_or_make("tools", _list)
    if found[1]:
        _listings.cache_clear()
    return found


def _list() -> Listing:
    return list_upstream_tools(upstreams(), fetch=list_tools, flatten=foreign_schema)


def find(name: str) -> tuple[Upstream, UpstreamTool]:
    """The server and the tool behind a mapped name.

    Raises:
        NotFoundError: There is no such tool.
        UnavailableError: There is none now, and a server did not answer.
    """
    tools, warnings = listing()
    tool = next((tool for tool in tools if tool.name == name), None)
    if tool is None:
        if warnings:
            raise UnavailableError("that tool is not offered now: an upstream server does not answer as it should")
        raise NotFoundError(f"there is no tool named {name[:64]}", field="name")
    return next(upstream for upstream in upstreams() if upstream.name == tool.server), tool


def ask(upstream: Upstream, tool: UpstreamTool, arguments: dict[str, object], call: Call) -> UpstreamAnswer:
    """The upstream's answer, its further pages included within bounds."""
    deadline = monotonic() + min(upstream.timeout_s, call.remaining_ms() / 1_000) - _RESERVE_S
    return with_tool(
        upstream,
        tool.original,
        lambda ask_tool: drain(
            ask_tool(arguments), arguments, tool.input_schema, ask_tool, has_time=lambda: monotonic() < deadline
        ),
    )
