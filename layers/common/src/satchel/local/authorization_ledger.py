"""What the development authorization server must remember over a restart: its clients and their refresh tokens."""

import hashlib
import json
import os
import secrets
from pathlib import Path
from typing import Any, cast

from mcp.server.auth.provider import RefreshToken
from mcp.shared.auth import OAuthClientInformationFull

_FILE = "oauth.json"


class AuthorizationLedger:
    """Clients and refresh tokens in one file of the data folder, readable by the owner alone.

    Tokens are kept as hashes. Whoever serves HTTP is one process, so the file has one writer.

    Args:
        folder: Where the file is.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE
        self._clients: dict[str, dict[str, Any]] = {}
        self._refresh_tokens: dict[str, dict[str, Any]] = {}
        if self._path.exists():
            kept = json.loads(self._path.read_text())
            self._clients, self._refresh_tokens = kept["clients"], kept["refresh_tokens"]

    def client(self, client_id: str) -> OAuthClientInformationFull | None:
        """Return the client of that id, or None."""
        kept = self._clients.get(client_id)
        return OAuthClientInformationFull.model_validate(kept) if kept is not None else None

    def add_client(self, client: OAuthClientInformationFull) -> None:
        """Remember a client."""
        self._clients[client.client_id] = client.model_dump(mode="json", exclude_none=True)
        self._write()

    def refresh_token(self, token: str) -> RefreshToken | None:
        """Return what stands behind a refresh token, or None."""
        kept = self._refresh_tokens.get(_digest(token))
        return RefreshToken.model_validate({**kept, "token": token}) if kept is not None else None

    def add_refresh_token(self, token: RefreshToken, *, now: float) -> None:
        """Remember a refresh token, and forget those that have expired."""
        alive = {key: kept for key, kept in self._refresh_tokens.items() if cast("int", kept["expires_at"]) > now}
        self._refresh_tokens = {**alive, _digest(token.token): token.model_dump(mode="json", exclude={"token"})}
        self._write()

    def drop_refresh_token(self, token: str) -> None:
        """Forget a refresh token: it has been used, or taken back."""
        if self._refresh_tokens.pop(_digest(token), None) is not None:
            self._write()

    def _write(self) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._path.with_suffix(f".{secrets.token_hex(4)}.draft")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump({"clients": self._clients, "refresh_tokens": self._refresh_tokens}, file)
        draft.replace(self._path)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
