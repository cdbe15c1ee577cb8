"""Who signs the tokens of a local installation: keys in the data folder, tokens made of them."""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from jwt.algorithms import ECAlgorithm

from satchel.local.secret_file import write_once

# Everything but real money: a development token must never be able to trade live.
DEVELOPMENT_SCOPES = ("context:read", "context:write", "sandbox:run", "trade:paper", "trade:read")
_FOLDER = "identity"
_ALGORITHM = "ES256"


class Identity:
    """The issuer of one data folder.

    Keys are created once and stay, so that tokens survive a restart. The newest signs, all of them verify.

    Args:
        data_dir: The data folder; keys are kept in its `identity` folder, readable by the owner alone.
        issuer: The URL that tokens name as their issuer.
        clock: Seconds since the epoch.
    """

    def __init__(self, data_dir: Path, issuer: str, *, clock: Callable[[], float] = time.time) -> None:
        self.issuer = issuer
        self.folder = data_dir / _FOLDER
        self._clock = clock

    def mint(
        self,
        user_id: str,
        *,
        scopes: Iterable[str] = DEVELOPMENT_SCOPES,
        audience: str,
        expires_s: int = 86_400,
        client_id: str = "satchel",
    ) -> str:
        """Return a signed token (RFC 9068) for `user_id`.

        Args:
            user_id: The subject.
            scopes: What it allows.
            audience: The URL of the resource it is for.
            expires_s: How long it is valid, in seconds; negative for one that has already expired.
            client_id: The program it is made for.
        """
        key_id, key = self._keys()[-1]
        now = int(self._clock())
        claims = {
            "iss": self.issuer,
            "sub": user_id,
            "aud": audience,
            "iat": now,
            "exp": now + expires_s,
            "jti": secrets.token_urlsafe(12),
            "client_id": client_id,
            "scope": " ".join(scopes),
        }
        return jwt.encode(claims, key, algorithm=_ALGORITHM, headers={"kid": key_id, "typ": "at+jwt"})

    def jwks(self) -> dict[str, Any]:
        """Return the public keys (RFC 7517), oldest first."""
        return {"keys": [_public(key_id, key) for key_id, key in self._keys()]}

    def public_keys(self) -> list[ec.EllipticCurvePublicKey]:
        """Return the public keys, oldest first."""
        return [key.public_key() for _, key in self._keys()]

    def rotate(self) -> str:
        """Add a key, which signs from now on, and return its id. Tokens of the older keys stay valid."""
        numbers = [int(path.stem) for path in self._files()]
        return self._create(max(numbers, default=0) + 1)

    def _keys(self) -> list[tuple[str, ec.EllipticCurvePrivateKey]]:
        if not self._files():
            self._create(1)
        return [_load(path) for path in self._files()]

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("*.pem"))

    def _create(self, number: int) -> str:
        """Write key `number`, unless another process was faster: then that one is the key."""
        path = self.folder / f"{number:04d}.pem"
        pem = ec.generate_private_key(ec.SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        write_once(path, pem)
        return _load(path)[0]


def _load(path: Path) -> tuple[str, ec.EllipticCurvePrivateKey]:
    key = load_pem_private_key(path.read_bytes(), password=None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return _thumbprint(key), key


def _jwk(key: ec.EllipticCurvePrivateKey) -> Mapping[str, str]:
    return json.loads(ECAlgorithm.to_jwk(key.public_key()))


def _thumbprint(key: ec.EllipticCurvePrivateKey) -> str:
    """The key's id, made from the key itself (RFC 7638)."""
    members = {name: _jwk(key)[name] for name in ("crv", "kty", "x", "y")}
    digest = hashlib.sha256(json.dumps(members, separators=(",", ":")).encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _public(key_id: str, key: ec.EllipticCurvePrivateKey) -> dict[str, str]:
    return {**_jwk(key), "kid": key_id, "alg": _ALGORITHM, "use": "sig"}
