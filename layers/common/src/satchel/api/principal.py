"""Who is asking, once the token has been verified."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Principal:
    """A verified caller. The raw token is never part of it.

    Attributes:
        user_id: The token's subject; the only thing that names a user anywhere.
        scopes: What the token allows, such as `context:read`.
    """

    user_id: str
    scopes: frozenset[str]
