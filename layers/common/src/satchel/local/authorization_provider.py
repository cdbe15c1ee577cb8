"""What the SDK's OAuth routes ask: who the clients are, what a person agreed to, which tokens that makes."""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from satchel.api.gateway_request import is_loopback
from satchel.local.authorization_ledger import AuthorizationLedger
from satchel.local.identity import DEVELOPMENT_SCOPES, Identity

CONSENT_PATH = "/consent"
_CODE_LIFETIME_S = 300
_ACCESS_LIFETIME_S = 3_600
_REFRESH_LIFETIME_S = 30 * 86_400
_SECRET_BYTES = 32


@dataclass(frozen=True)
class PendingConsent:
    """A client's request that waits for a person.

    Attributes:
        client: Who asks.
        params: What for.
        scopes: The scopes it will get.
        resource: The resource it will get a token for.
    """

    client: OAuthClientInformationFull
    params: AuthorizationParams
    scopes: tuple[str, ...]
    resource: str


class DevelopmentProvider(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Authorization for one machine: whoever sits before it says who they are.

    Requests and codes live in memory and for five minutes; clients and refresh tokens are in the ledger.

    Args:
        identity: Signs the access tokens.
        resource_urls: The resources that tokens may be made for; the first is meant where a client names none.
        ledger: Remembers clients and refresh tokens.
        clock: Seconds since the epoch.
    """

    def __init__(
        self,
        identity: Identity,
        resource_urls: Sequence[str],
        ledger: AuthorizationLedger,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._identity = identity
        self._resource_urls = tuple(resource_urls)
        self._ledger = ledger
        self._clock = clock
        self._pending: dict[str, tuple[float, PendingConsent]] = {}
        self._codes: dict[str, AuthorizationCode] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        """Return a registered client, or None."""
        return self._ledger.client(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Remember a client. It may ask for any scope later, whatever it registered with: a person decides."""
        client_info.scope = " ".join(DEVELOPMENT_SCOPES)
        self._ledger.add_client(client_info)

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        """Return the URL of the page that asks a person. Raises AuthorizeError for a resource that is not ours."""
        resource = self._resource(params.resource)
        if resource is None:
            raise AuthorizeError("invalid_target", "this server makes no tokens for that resource")
        self._forget_expired()
        name = secrets.token_urlsafe(_SECRET_BYTES)
        scopes = tuple(params.scopes or DEVELOPMENT_SCOPES)
        self._pending[name] = (self._clock() + _CODE_LIFETIME_S, PendingConsent(client, params, scopes, resource))
        return construct_redirect_uri(self._identity.issuer + CONSENT_PATH, request=name)

    def pending(self, name: str) -> PendingConsent | None:
        """Return the request of that name, if it still waits."""
        self._forget_expired()
        found = self._pending.get(name)
        return found[1] if found is not None else None

    def decide(self, name: str, user_id: str | None) -> str | None:
        """Take a person's decision: the user it is for, or None for a refusal.

        Returns:
            The URL to send the browser to; None where the request does not wait any more.
        """
        consent = self.pending(name)
        if consent is None:
            return None
        del self._pending[name]
        params, issuer = consent.params, self._identity.issuer
        redirect = str(params.redirect_uri)
        if user_id is None:
            return construct_redirect_uri(redirect, error="access_denied", state=params.state, iss=issuer)
        code = secrets.token_urlsafe(_SECRET_BYTES)
        self._codes[code] = AuthorizationCode(
            code=code,
            scopes=list(consent.scopes),
            expires_at=self._clock() + _CODE_LIFETIME_S,
            client_id=consent.client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=consent.resource,
            subject=user_id,
        )
        return construct_redirect_uri(redirect, code=code, state=params.state, iss=issuer)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        """Return a code that has not been used, or None."""
        del client
        return self._codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        """Turn a code into tokens, once."""
        del self._codes[authorization_code.code]
        return self._tokens(client, authorization_code.subject, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        """Return what stands behind a refresh token, or None."""
        del client
        return self._ledger.refresh_token(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        """Turn a refresh token into new tokens, once."""
        self._ledger.drop_refresh_token(refresh_token.token)
        return self._tokens(client, refresh_token.subject, scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        """Return None: access tokens are signed and not kept, and nobody asks for them here."""
        del token

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        """Forget a refresh token. An access token ends by itself, within the hour."""
        self._ledger.drop_refresh_token(token.token)

    def _tokens(
        self, client: OAuthClientInformationFull, subject: str | None, scopes: list[str], resource: str | None
    ) -> OAuthToken:
        user_id, audience = subject or "", resource or self._resource_urls[0]
        refresh = RefreshToken(
            token=secrets.token_urlsafe(_SECRET_BYTES),
            client_id=client.client_id,
            scopes=scopes,
            expires_at=int(self._clock()) + _REFRESH_LIFETIME_S,
            resource=audience,
            subject=user_id,
        )
        self._ledger.add_refresh_token(refresh, now=self._clock())
        access = self._identity.mint(
            user_id, scopes=scopes, audience=audience, expires_s=_ACCESS_LIFETIME_S, client_id=client.client_id
        )
        return OAuthToken(
            access_token=access, expires_in=_ACCESS_LIFETIME_S, scope=" ".join(scopes), refresh_token=refresh.token
        )

    def _resource(self, wanted: str | None) -> str | None:
        """The resource a client means; None where it is not one of ours.

        Query and closing slash do not count, and all names of this machine are one.
        """
        if wanted is None:
            return self._resource_urls[0]
        try:
            bare = _bare(wanted)
        except ValueError:  # not a URL
            return None
        return next((ours for ours in self._resource_urls if _bare(ours) == bare), None)

    def _forget_expired(self) -> None:
        now = self._clock()
        self._pending = {name: kept for name, kept in self._pending.items() if kept[0] > now}
        self._codes = {name: code for name, code in self._codes.items() if code.expires_at > now}


def _bare(url: str) -> tuple[str, str, str]:
    parts = urlsplit(url)
    place = f"localhost:{parts.port}" if is_loopback(parts.netloc) else parts.netloc
    return parts.scheme, place, parts.path.rstrip("/")
