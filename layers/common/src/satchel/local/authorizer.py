"""The JWT authorizer of an HTTP API.

https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-jwt-authorizer.html
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from satchel.local.template import Authorizer

_ALGORITHMS = ("RS256", "ES256")


class TokenError(Exception):
    """The token does not let its bearer in."""


class ScopeError(Exception):
    """The token is good but has none of the scopes the route asks for."""


class JwtVerifier:
    """Checks tokens against a set of public keys.

    Args:
        jwks: Gives the current JSON Web Key Set; asked on every check, so that keys can be rotated.
    """

    def __init__(self, jwks: Callable[[], Mapping[str, Any]]) -> None:
        self._jwks = jwks

    def claims(self, header: str, authorizer: Authorizer, scopes: Sequence[str] = ()) -> dict[str, Any]:
        """The claims of the token in an `Authorization` header.

        Args:
            header: The header's value, with or without `Bearer`.
            authorizer: Names the issuer, and the audiences one of which must be meant.
            scopes: One of these must be granted, if there are any.

        Raises:
            TokenError: No token, or it is malformed, expired, of another issuer, audience or key.
            ScopeError: None of the scopes is granted.
        """
        import jwt  # noqa: PLC0415 - only a request with a token pays for it

        token = header.removeprefix("Bearer ").removeprefix("bearer ").strip()
        try:
            key_id = jwt.get_unverified_header(token).get("kid")
            keys = jwt.PyJWKSet.from_dict(dict(self._jwks())).keys
            key = next((key for key in keys if key.key_id == key_id), None)
            if key is None:
                raise TokenError("The token is signed with an unknown key.")
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=list(_ALGORITHMS),
                issuer=authorizer.issuer,
                audience=list(authorizer.audience),
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.PyJWTError as error:
            raise TokenError(str(error)) from error
        granted = str(claims.get("scope", "")).split()
        if scopes and not set(scopes) & set(granted):
            raise ScopeError("The token has none of the scopes this route asks for.")
        return claims
