"""Tokens for turns that outlive the request they came in with.

A job, a message on a socket and one from Telegram come without the user's token, or after it. The gateway does not
make tokens: it asks the issuer for one, with an assertion it signs as a client of the issuer (RFC 7523, the JWT bearer
grant). Whether it gets one is the issuer's decision; the token's subject is the user, its scopes are no more than the
caller had, and it lives for minutes.
"""

import json
import secrets
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from satchel.errors import UnavailableError

GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_ASSERTION_LIFETIME_S = 60
_TIMEOUT_S = 5.0
_RENEW_BEFORE_S = 60.0
_KEPT = 256
_REFUSED = "the issuer gives the gateway no token for this user"


@dataclass
class Delegation:
    """Gets tokens from one issuer.

    Attributes:
        token_url: Its token endpoint; empty where there is none.
        client_id: Who the gateway is there.
        key: Gives the client's secret.
        resource: The audience of the tokens.
        clock: Seconds since the epoch.
    """

    token_url: str
    client_id: str
    key: Callable[[], str]
    resource: str
    clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        self._tokens: dict[tuple[str, str], tuple[float, str]] = {}

    @property
    def possible(self) -> bool:
        """Whether an issuer is configured that may give tokens."""
        return bool(self.token_url)

    def token(self, user_id: str, scopes: Sequence[str]) -> str:
        """A token whose subject is `user_id`, with these scopes at most.

        Raises:
            UnavailableError: No issuer is configured, it does not answer, or it refuses.
        """
        wanted = " ".join(sorted(scopes))
        until, token = self._tokens.get((user_id, wanted), (0.0, ""))
        if until - _RENEW_BEFORE_S > self.clock():
            return token
        token, lifetime_s = self._ask(user_id, wanted)
        if len(self._tokens) >= _KEPT:
            self._tokens.clear()
        self._tokens[user_id, wanted] = (self.clock() + lifetime_s, token)
        return token

    def _ask(self, user_id: str, scope: str) -> tuple[str, float]:
        if not self.possible:
            raise UnavailableError("this installation has no issuer that gives the gateway tokens")
        form = {
            "grant_type": GRANT_TYPE,
            "assertion": self._assertion(user_id),
            "scope": scope,
            "resource": self.resource,
        }
        request = urllib.request.Request(  # noqa: S310 - a configured URL
            self.token_url, data=urllib.parse.urlencode(form).encode(), method="POST"
        )
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310 - as above
                told = json.load(answer)
            return str(told["access_token"]), float(told.get("expires_in", 60))
        except (urllib.error.HTTPError, KeyError, TypeError) as error:
            raise UnavailableError(_REFUSED, retry_after_s=60) from error
        except (OSError, ValueError) as error:
            raise UnavailableError("the issuer of tokens does not answer") from error

    def _assertion(self, user_id: str) -> str:
        import jwt  # noqa: PLC0415 - only where a token is asked for

        now = int(self.clock())
        claims = {
            "iss": self.client_id,
            "sub": user_id,
            "aud": self.token_url,
            "iat": now,
            "exp": now + _ASSERTION_LIFETIME_S,
            "jti": secrets.token_urlsafe(12),
        }
        return jwt.encode(claims, self.key(), algorithm="HS256")
