"""Who is asking, once the token has been verified."""

from dataclasses import dataclass
from typing import Any

from satchel.errors import UnauthorizedError

MAX_USER_ID_CHARS = 256


@dataclass(frozen=True, slots=True)
class Principal:
    """A verified caller. The raw token is never part of it.

    Attributes:
        user_id: The token's subject; the only thing that names a user anywhere.
        scopes: What the token allows, such as `context:read`.
    """

    user_id: str
    scopes: frozenset[str]


def principal_of(subject: Any, scope: Any) -> Principal:
    """The principal that a verified token names: the same at every door, or one user would be two.

    Args:
        subject: Its `sub`.
        scope: Its `scope`, names separated by spaces (RFC 8693); anything else grants nothing.

    Raises:
        UnauthorizedError: The subject cannot name a user.
    """
    if not isinstance(subject, str) or not can_name_a_user(subject):
        raise UnauthorizedError("the token names no usable subject")
    return Principal(subject, frozenset(scope.split()) if isinstance(scope, str) else frozenset())


def can_name_a_user(text: str) -> bool:
    """Whether `text` may be a user: 1 to 256 characters that can be seen, so that no two look alike."""
    return 0 < len(text) <= MAX_USER_ID_CHARS and text.isprintable()
