import stat
import threading
from pathlib import Path

import jwt
import pytest

from satchel.local.identity import DEVELOPMENT_SCOPES, Identity

ISSUER = "http://127.0.0.1:3000"


@pytest.fixture
def identity(tmp_path: Path):
    return Identity(tmp_path, ISSUER)


def decoded(identity, token, audience="http://r/mcp"):
    keys = {key["kid"]: jwt.PyJWK.from_dict(key) for key in identity.jwks()["keys"]}
    key = keys[jwt.get_unverified_header(token)["kid"]]
    return jwt.decode(token, key, algorithms=["ES256"], audience=audience, issuer=ISSUER)


def test_a_token_holds_what_was_asked_for(tmp_path):
    identity = Identity(tmp_path, ISSUER, clock=lambda: 4_000_000_000.0)
    token = identity.mint("김하나", scopes=["context:read"], audience="http://r/mcp", expires_s=60)
    claims = jwt.decode(token, options={"verify_signature": False})
    assert claims["sub"] == "김하나"
    assert claims["scope"] == "context:read"
    assert claims["exp"] - claims["iat"] == 60
    assert claims["iat"] == 4_000_000_000


def test_a_development_token_cannot_trade_live(identity):
    claims = decoded(identity, identity.mint("a", audience="http://r/mcp"))
    assert claims["scope"].split() == list(DEVELOPMENT_SCOPES)
    assert "trade:live" not in claims["scope"]


def test_the_keys_survive_a_restart(tmp_path, identity):
    token = identity.mint("a", audience="http://r/mcp")
    assert decoded(Identity(tmp_path, ISSUER), token)["sub"] == "a"


def test_only_the_owner_can_read_the_keys(tmp_path, identity):
    identity.mint("a", audience="x")
    files = list((tmp_path / "identity").iterdir())
    assert [file.name for file in files] == ["0001.pem"]
    assert stat.S_IMODE(files[0].stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "identity").stat().st_mode) == 0o700


def test_the_newest_key_signs_and_all_verify(identity):
    old = identity.mint("a", audience="http://r/mcp")
    new_id = identity.rotate()
    new = identity.mint("b", audience="http://r/mcp")
    assert jwt.get_unverified_header(new)["kid"] == new_id
    assert jwt.get_unverified_header(old)["kid"] != new_id
    assert [decoded(identity, token)["sub"] for token in (old, new)] == ["a", "b"]


def test_no_private_part_is_published(identity):
    (key,) = identity.jwks()["keys"]
    assert set(key) == {"kty", "crv", "x", "y", "kid", "alg", "use"}


def test_processes_that_start_together_agree_on_one_key(tmp_path):
    seen: list[str] = []
    gate = threading.Barrier(8)

    def start() -> None:
        gate.wait()
        seen.append(Identity(tmp_path, ISSUER).jwks()["keys"][0]["kid"])

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 1
    assert len(seen) == 8
