"""A small OAuth 2.1 authorization server for development, so that MCP clients can sign in by themselves.

Authorization code with PKCE, refresh, dynamic client registration and resource indicators are the SDK's; the page
that asks a person, the keys and the memory are ours.
"""

from collections.abc import Sequence
from typing import Any

from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route, request_response

from satchel.api.gateway_request import is_loopback
from satchel.api.principal import can_name_a_user
from satchel.local import consent_page
from satchel.local.authorization_ledger import AuthorizationLedger
from satchel.local.authorization_provider import CONSENT_PATH, DevelopmentProvider
from satchel.local.identity import DEVELOPMENT_SCOPES, Identity

METADATA_PATH = "/.well-known/oauth-authorization-server"
JWKS_PATH = "/.well-known/jwks.json"
# What the server answers, for whoever mounts it beside other things.
PATHS = (METADATA_PATH, JWKS_PATH, CONSENT_PATH, "/authorize", "/token", "/register", "/revoke")


def build(identity: Identity, resource_urls: Sequence[str]) -> Starlette:
    """Return the server, an ASGI application that answers `PATHS` under the root of `identity.issuer`.

    Args:
        identity: Its keys; clients and refresh tokens are kept beside them.
        resource_urls: What tokens may be made for; the first is meant where a client names none.
    """
    provider = DevelopmentProvider(identity, resource_urls, AuthorizationLedger(identity.folder))
    sdk_routes = create_auth_routes(
        provider,
        AnyHttpUrl(identity.issuer),
        client_registration_options=ClientRegistrationOptions(
            enabled=True, valid_scopes=list(DEVELOPMENT_SCOPES), default_scopes=list(DEVELOPMENT_SCOPES)
        ),
        revocation_options=RevocationOptions(enabled=True),
    )
    consent = _Consent(provider)
    routes: list[BaseRoute] = [
        _document(METADATA_PATH, lambda: metadata(identity.issuer)),
        _document(JWKS_PATH, identity.jwks),
        Route(CONSENT_PATH, consent.ask, methods=["GET"]),
        Route(CONSENT_PATH, consent.take, methods=["POST"]),
        *(route for route in sdk_routes if route.path != METADATA_PATH),
    ]
    return Starlette(routes=routes)


def metadata(issuer: str) -> dict[str, Any]:
    """Return the metadata of the server (RFC 8414). The SDK's own leaves out public clients and the keys."""
    methods = ["none", "client_secret_post", "client_secret_basic"]
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "registration_endpoint": f"{issuer}/register",
        "revocation_endpoint": f"{issuer}/revoke",
        "jwks_uri": issuer + JWKS_PATH,
        "scopes_supported": list(DEVELOPMENT_SCOPES),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_methods_supported": methods,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        # No OpenID provider. Said outright, because mcp-use sends a person to the browser as soon as it finds such a
        # document, also when it was given a token; with this it uses the token.
        "subject_types_supported": None,
    }


class _Consent:
    """The page and what its buttons do."""

    def __init__(self, provider: DevelopmentProvider) -> None:
        self._provider = provider

    async def ask(self, request: Request) -> Response:
        """Show the page."""
        name = request.query_params.get("request", "")
        consent = self._provider.pending(name) if _is_here(request) else None
        if consent is None:
            return _gone()
        return HTMLResponse(consent_page.render(name, consent), headers=consent_page.HEADERS)

    async def take(self, request: Request) -> Response:
        """Send the browser back to the client with a code, or with a refusal."""
        form = await request.form()
        name, user_id = str(form.get("request", "")), str(form.get("user", "")).strip()
        allowed = form.get("decision") == "allow"
        if allowed and not can_name_a_user(user_id):
            return PlainTextResponse("Name the user.", status_code=400, headers=consent_page.HEADERS)
        target = self._provider.decide(name, user_id if allowed else None) if _is_here(request) else None
        if target is None:
            return _gone()
        return RedirectResponse(target, status_code=303, headers={"cache-control": "no-store"})


def _is_here(request: Request) -> bool:
    """Whether the browser calls us by a name of this machine: a rebound name could read the page and click for us."""
    return is_loopback(request.headers.get("host", ""))


def _gone() -> Response:
    text = "This request is not waiting any more. Start again from your client."
    return PlainTextResponse(text, status_code=400, headers=consent_page.HEADERS)


def _document(path: str, read: Any) -> Route:
    async def answer(request: Request) -> Response:
        del request
        return JSONResponse(read(), headers={"cache-control": "public, max-age=60"})

    app = CORSMiddleware(request_response(answer), allow_origins="*", allow_methods=["GET"], allow_headers=["*"])
    return Route(path, app, methods=["GET", "OPTIONS"])
