"""The JWT bearer grant (RFC 7523) of the development issuer: tokens for the agent gateway, in the name of a user.

Only the gateway of this data folder has the key that signs its assertions.
"""

from pathlib import Path
from typing import Any

import jwt
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from satchel.local.identity import DEVELOPMENT_SCOPES, Identity
from satchel.local.secret_file import secret_in

GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer"
CLIENT_ID = "satchel-gateway"
_LIFETIME_S = 600


def gateway_key(data: Path) -> str:
    """The gateway's client secret: made once, readable by the owner alone."""
    return secret_in(data / "identity" / "gateway.key")


class TokenEndpoint:
    """The token endpoint: this grant here, every other one at the authorization server.

    Args:
        identity: Signs.
        key: The gateway's secret.
        audience: What tokens are for.
        others: The authorization server.
    """

    def __init__(self, identity: Identity, *, key: str, audience: str, others: ASGIApp) -> None:
        self._identity = identity
        self._key = key
        self._audience = audience
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._others(scope, receive, send)
            return
        body = await Request(scope, receive).body()

        async def again() -> Any:
            return {"type": "http.request", "body": body, "more_body": False}

        try:
            form = await Request(scope, again).form()
        except MultiPartException as error:
            told = JSONResponse({"error": "invalid_request", "error_description": error.message}, status_code=400)
            await told(scope, again, send)
            return
        if form.get("grant_type") != GRANT_TYPE:
            await self._others(scope, again, send)
            return
        answer = self._exchange(str(form.get("assertion", "")), str(form.get("scope", "")).split())
        await answer(scope, again, send)

    def _exchange(self, assertion: str, wanted: list[str]) -> Response:
        try:
            claims: dict[str, Any] = jwt.decode(
                assertion,
                self._key,
                algorithms=["HS256"],
                issuer=CLIENT_ID,
                audience=f"{self._identity.issuer}/token",
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError:
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        scopes = [scope for scope in wanted if scope in DEVELOPMENT_SCOPES]
        token = self._identity.mint(
            str(claims["sub"]), scopes=scopes, audience=self._audience, expires_s=_LIFETIME_S, client_id=CLIENT_ID
        )
        body = {"access_token": token, "token_type": "Bearer", "expires_in": _LIFETIME_S, "scope": " ".join(scopes)}
        return JSONResponse(body, headers={"cache-control": "no-store"})
