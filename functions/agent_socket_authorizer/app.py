"""Says who connects to the WebSocket API, whose own authorizers know no tokens."""

from typing import Any

from satchel.api.handler import LambdaContext
from satchel.api.socket import allow, authorization_of
from satchel.errors import UnauthorizedError
from satchel.token_wiring import token_verifier


class Unauthorized(Exception):  # noqa: N818 - API Gateway answers 401 to exactly this name
    """There is no valid token."""


def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Verify the token of the handshake."""
    try:
        principal = token_verifier().verify(authorization_of(event))
    except UnauthorizedError as error:
        raise Unauthorized("Unauthorized") from error
    return allow(principal, str(event["methodArn"]))
