"""Verifies bearer tokens: JWTs signed by the issuer we trust, made for us, still valid.

RFC 9068 and the MCP authorization rules: the audience must be this resource, so a token made for somebody else's
server is refused here, and only asymmetric algorithms count, so that a public key can never be used as a secret.
"""

import json
import urllib.request
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from http.client import HTTPException
from time import monotonic, time
from typing import Any, cast

import jwt

from satchel.api.principal import Principal, principal_of
from satchel.errors import UnauthorizedError, UnavailableError

ALGORITHMS = ("RS256", "ES256")
KEYS_LIFETIME_S = 3600.0
# A caller can name any key id. An unknown one is worth a look at the issuer, but not one look per request.
REFETCH_INTERVAL_S = 10.0
_FETCH_TIMEOUT_S = 3.0
_LEEWAY_S = 10.0
_GOOD_FOR_S = 60.0
_GOOD_TOKENS = 256

FetchKeys = Callable[[], Mapping[str, Any]]


class KeySet:
    """The issuer's public keys, cached.

    They are fetched on the first use, when they are older than an hour, and when a token names a key we have not
    seen (that is what a rotation looks like). Keys once seen stay in use while the issuer does not answer.

    Args:
        fetch: Gets the JWKS document (RFC 7517).
        clock: A monotonic clock in seconds.
    """

    def __init__(self, fetch: FetchKeys, *, clock: Callable[[], float] = monotonic) -> None:
        self._fetch = fetch
        self._clock = clock
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched_at: float | None = None
        self._looked_at: float | None = None

    def key(self, key_id: str) -> jwt.PyJWK:
        """Return the key of that id.

        Raises:
            UnauthorizedError: The issuer has no such key.
            UnavailableError: The issuer does not answer and no key was ever seen.
        """
        now = self._clock()
        if self._fetched_at is None or now - self._fetched_at > KEYS_LIFETIME_S:
            self._refresh()
        elif key_id not in self._keys and (self._looked_at is None or now - self._looked_at > REFETCH_INTERVAL_S):
            # Counted apart from the other fetches: a rotation just after a cold start is seen at once.
            self._looked_at = now
            self._refresh()
        if key_id not in self._keys:
            raise UnauthorizedError("the token is signed by an unknown key")
        return self._keys[key_id]

    def _refresh(self) -> None:
        try:
            document = self._fetch()
            listed = jwt.PyJWKSet.from_dict(dict(document)).keys
        except (OSError, HTTPException, ValueError, jwt.PyJWTError) as error:
            if not self._keys:
                raise UnavailableError("the keys of the token issuer cannot be read", retry_after_s=5) from error
            self._fetched_at = self._clock()
            return
        self._keys = {key.key_id: key for key in listed if key.key_id}
        self._fetched_at = self._clock()


class TokenVerifier:
    """Turns an `Authorization` header into a principal.

    An agent sends the same token with every call, and checking a signature costs more than the rest of a call. So a
    token that was found good is not checked again for a minute, or until it expires. That minute is also how long a
    key that the issuer has withdrawn may go on working.

    Args:
        issuer: The only issuer trusted.
        audiences: What a token may name as its audience; any one of them will do.
        keys: The issuer's keys.
        clock: Seconds since the epoch.
    """

    def __init__(
        self, *, issuer: str, audiences: Sequence[str], keys: KeySet, clock: Callable[[], float] = time
    ) -> None:
        self._issuer = issuer
        self._audiences = list(audiences)
        self._keys = keys
        self._clock = clock
        self._good: OrderedDict[bytes, tuple[float, Principal]] = OrderedDict()

    def verify(self, authorization: str | None) -> Principal:
        """Return who is asking.

        Args:
            authorization: The header's value, such as `Bearer eyJ…`; None where there is none.

        Raises:
            UnauthorizedError: There is no token, or it is not a valid one for us. The message says what is wrong.
            UnavailableError: The issuer's keys cannot be read.
        """
        scheme, _, token = (authorization or "").strip().partition(" ")
        if not authorization:
            raise UnauthorizedError("a bearer token is needed")
        if scheme.lower() != "bearer" or not token.strip():
            raise UnauthorizedError("the Authorization header must be: Bearer, a space, the token")
        return self._known_good(token.strip())

    def _known_good(self, token: str) -> Principal:
        digest = sha256(token.encode("utf-8", "surrogatepass")).digest()
        good_until, principal = self._good.get(digest, (0.0, None))
        if principal is not None and self._clock() < good_until:
            return principal
        claims = self._claims(token)
        principal = principal_of(claims["sub"], claims.get("scope"))
        self._good[digest] = (min(self._clock() + _GOOD_FOR_S, float(claims["exp"])), principal)
        if len(self._good) > _GOOD_TOKENS:
            self._good.popitem(last=False)
        return principal

    def _claims(self, token: str) -> Mapping[str, Any]:
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in ALGORITHMS:
                raise UnauthorizedError("the token must be signed with RS256 or ES256")
            key = self._keys.key(str(header.get("kid", "")))
            return jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                audience=self._audiences,
                issuer=self._issuer,
                leeway=_LEEWAY_S,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.ExpiredSignatureError as error:
            raise UnauthorizedError("the token has expired") from error
        except jwt.InvalidAudienceError as error:
            raise UnauthorizedError("the token was made for another audience") from error
        except jwt.InvalidIssuerError as error:
            raise UnauthorizedError("the token comes from another issuer") from error
        except jwt.PyJWTError as error:
            raise UnauthorizedError("the token is not valid") from error


def fetch_keys_from(url: str) -> FetchKeys:
    """Return a function that gets the JWKS document at `url` over HTTP, waiting three seconds at most.

    It raises OSError or HTTPException where the issuer does not answer, ValueError where the answer is not a JSON
    object.
    """
    if not url.startswith(("https://", "http://")):
        raise ValueError("the JWKS URL must be http or https")

    def fetch() -> Mapping[str, Any]:
        with urllib.request.urlopen(url, timeout=_FETCH_TIMEOUT_S) as answer:  # noqa: S310 - scheme checked above
            document = json.load(answer)
        if not isinstance(document, dict):
            raise ValueError("a JWKS is a JSON object")  # noqa: TRY004 - it is the value that is wrong
        return cast("Mapping[str, Any]", document)

    return fetch
