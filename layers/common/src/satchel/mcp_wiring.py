"""From settings to the MCP adapter. Apart from `wiring`, so that the adapter loads no database driver."""

import logging
import os
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.metadata import version
from pathlib import Path

from satchel.api.catalogue import Catalogue
from satchel.api.listing import registered
from satchel.api.mcp.adapter import McpAdapter
from satchel.api.mcp.admission import Admission
from satchel.api.mcp.endpoint import McpEndpoint
from satchel.api.mcp.functions import LambdaFunctions
from satchel.api.mcp.server import build_server, install_fixtures
from satchel.api.mcp.upstreams import ProxyCatalogue, UpstreamEntry, UpstreamTools
from satchel.aws_secret import read_secret
from satchel.expiring_cache import ExpiringCache
from satchel.settings import Settings
from satchel.token_wiring import verifier

_UPSTREAMS_KEPT_FOR = timedelta(minutes=5)


@cache
def mcp_adapter() -> McpAdapter:
    """The MCP adapter of this process."""
    return build_adapter(Settings.from_environment(os.environ))


def build_adapter(settings: Settings) -> McpAdapter:
    """Return the adapter that `settings` describe.

    `resource_url` may list several URLs that callers know us by; a token for any of them is accepted.
    """
    # The SDK logs what failed its checks word for word, and that is what users have said.
    logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)
    functions = LambdaFunctions(settings.stack)
    listed = _catalogue(settings, functions)
    server = build_server(
        listed,
        functions,
        version=version("satchel"),
        request_state_keys=lambda: _request_state_keys(settings),
    )
    if settings.test_fixtures:
        install_fixtures(server, Path(settings.test_fixtures))
    return McpAdapter(
        endpoint=McpEndpoint(server, listed),
        functions=functions,
        catalogue=listed,
        verifier=verifier(settings),
        admission=Admission(
            hosts=frozenset(host.lower() for host in settings.allowed_hosts),
            origins=frozenset(settings.allowed_origins),
        ),
        issuer=settings.issuer,
    )


def _catalogue(settings: Settings, functions: LambdaFunctions) -> Catalogue:
    own = registered(live=bool(settings.live_max_order))
    if not settings.upstreams and not settings.upstreams_secret:
        return own
    kept: ExpiringCache[tuple[UpstreamEntry, ...]] = ExpiringCache(
        max_entries=1, ttl=_UPSTREAMS_KEPT_FOR, clock=lambda: datetime.now(UTC)
    )
    return ProxyCatalogue(own.tools, own.resources, own.templates, UpstreamTools(functions, kept))


def _request_state_keys(settings: Settings) -> tuple[str, ...]:
    if settings.request_state_keys:
        return settings.request_state_keys
    return tuple(key.strip() for key in read_secret(settings.request_state_secret).split(","))
