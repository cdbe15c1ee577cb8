"""Builds the SDK's low-level server from the catalogue."""

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import AESGCMRequestStateCodec, RequestStateBoundary, RequestStateSecurity
from mcp.shared.inbound import x_mcp_header_map

from satchel.api.catalogue import Catalogue
from satchel.api.mcp.exchange import Exchange
from satchel.api.mcp.functions import Functions
from satchel.api.mcp.handlers import CatalogueHandlers

NAME = "satchel"
_INSTRUCTIONS = (
    "Satchel keeps this user's context. Read context://conversation-summary and context://user-profile before you "
    "answer, look things up with search_conversation, and save both sides of a conversation with save_message."
)
# What is listed changes with a release alone; what a resource says changes with every message.
_LISTING = CacheHint(ttl_ms=300_000, scope="public")
_READING = CacheHint(ttl_ms=0, scope="private")


def build_server(
    catalogue: Catalogue,
    functions: Functions,
    *,
    version: str,
    request_state_keys: Callable[[], Sequence[str]],
) -> Server[Any]:
    """Return the server for a catalogue.

    Args:
        catalogue: What is listed and served.
        functions: Who serves it.
        version: Ours, as told to clients.
        request_state_keys: Reads the secrets, of 32 characters or more, that seal `requestState`: the first seals,
            all open. Called when the first state has to be sealed or opened.
    """
    handlers = CatalogueHandlers(catalogue, functions)
    server: Server[Any] = Server(
        NAME,
        version=version,
        title="Satchel",
        instructions=_INSTRUCTIONS,
        cache_hints={
            "server/discover": _LISTING,
            "tools/list": _LISTING,
            "resources/list": _LISTING,
            "resources/templates/list": _LISTING,
            "prompts/list": _LISTING,
            "resources/read": _READING,
        },
        get_tool_input_schema=_schemas_with_param_headers(catalogue),
    )
    for method, params, handler in handlers.by_method():
        server.add_request_handler(method, params, handler)
    server.middleware.clear()  # the SDK's tracing: we send no telemetry, and it costs on every message
    security = RequestStateSecurity(codec=_SealWithKeys(request_state_keys), bind_principal=_user_of)
    server.middleware.append(RequestStateBoundary(security, default_audience=NAME))
    return server


def install_fixtures(server: Server[Any], folder: Path) -> None:
    """Load the package in `folder` and let its `install(server)` add to the server: for conformance runs alone.

    Raises:
        FileNotFoundError: There is no such package; the fixtures are part of a checkout and not of a release.
    """
    source = folder / "__init__.py"
    if not source.is_file():
        raise FileNotFoundError(f"there are no test fixtures in {folder}; they are part of a checkout")
    name = f"satchel_fixtures_{folder.name}"
    spec = importlib.util.spec_from_file_location(name, source, submodule_search_locations=[str(folder)])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    module.install(server)


def _schemas_with_param_headers(catalogue: Catalogue) -> Callable[[str], Mapping[str, Any] | None]:
    """Return a look-up of the schemas that ask for `Mcp-Param-*` headers: only those have anything to compare."""

    @lru_cache(maxsize=64)
    def find(name: str) -> Mapping[str, Any] | None:
        tool = catalogue.tool(name)
        return tool.input_schema if tool is not None and x_mcp_header_map(tool.input_schema) else None

    return find


class _SealWithKeys:
    """The SDK's codec over keys that are read when they are first needed: few calls ever need them."""

    def __init__(self, read_keys: Callable[[], Sequence[str]]) -> None:
        self._read_keys = read_keys

    @cached_property
    def _codec(self) -> AESGCMRequestStateCodec:
        return AESGCMRequestStateCodec(list(self._read_keys()))

    def seal(self, payload: bytes) -> str:
        """Return a token that only these keys open."""
        return self._codec.seal(payload)

    def unseal(self, token: str) -> bytes:
        """Return what was sealed. Raises InvalidRequestState where these keys did not seal it."""
        return self._codec.unseal(token)


def _user_of(ctx: ServerRequestContext[Any, Any]) -> str | None:
    exchange = ctx.request
    return exchange.principal.user_id if isinstance(exchange, Exchange) else None
