"""Tells a client how to get in: RFC 9728 metadata, and the challenges that lead to it."""

from collections.abc import Iterable, Sequence
from typing import Any

METADATA_PATH = "/.well-known/oauth-protected-resource"
MCP_PATH = "/mcp"
# Where clients look: the root form, and the form with the path of the resource behind it (RFC 9728, section 3.1).
METADATA_PATHS = frozenset({METADATA_PATH, METADATA_PATH + MCP_PATH})


def resource_metadata(base_url: str, issuer: str, scopes: Sequence[str]) -> dict[str, Any]:
    """Return the metadata of the resource, under the URL the caller used for us.

    Only a token whose audience is configured here is accepted, whatever URL this names.
    """
    return {
        "resource": base_url + MCP_PATH,
        "authorization_servers": [issuer],
        "scopes_supported": list(scopes),
        "bearer_methods_supported": ["header"],
        "resource_name": "Satchel",
    }


def challenge(base_url: str, *, scopes: Iterable[str], error: str | None = None, description: str = "") -> str:
    """Return a `WWW-Authenticate` value (RFC 6750, RFC 9728).

    Args:
        base_url: What the caller's URL starts with.
        scopes: What a token should have to succeed.
        error: `invalid_token` or `insufficient_scope`; None where no token was sent.
        description: For people; plain ASCII without quotes.
    """
    parameters = {
        "error": error,
        "error_description": description if error else None,
        "scope": " ".join(scopes),
        "resource_metadata": base_url + METADATA_PATH + MCP_PATH,
    }
    return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in parameters.items() if value)
