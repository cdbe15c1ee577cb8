"""From settings to what verifies tokens. Apart from the rest, so that verifying loads nothing else."""

import os
from functools import cache

from satchel.api.auth import KeySet, TokenVerifier, fetch_keys_from
from satchel.settings import Settings


@cache
def token_verifier() -> TokenVerifier:
    """The verifier of this process."""
    return verifier(Settings.from_environment(os.environ))


def verifier(settings: Settings) -> TokenVerifier:
    """The verifier that `settings` describe; a token for any of the URLs in `resource_url` is accepted."""
    return TokenVerifier(
        issuer=settings.issuer,
        audiences=settings.resource_url.replace(",", " ").split(),
        keys=KeySet(fetch_keys_from(settings.jwks_url)),
    )
