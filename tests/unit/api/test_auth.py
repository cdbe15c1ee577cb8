import base64
import hashlib
import hmac
import json
import time
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from satchel.api.auth import KEYS_LIFETIME_S, REFETCH_INTERVAL_S, KeySet, TokenVerifier, fetch_keys_from
from satchel.errors import UnauthorizedError, UnavailableError
from satchel.local.identity import Identity

ISSUER = "https://issuer.example"
RESOURCE = "https://api.example/mcp"


class Issuer:
    """A JWKS document behind a switch, with a count of the looks at it."""

    def __init__(self, read):
        self.read = read
        self.looks = 0
        self.down = False

    def __call__(self):
        self.looks += 1
        if self.down:
            raise ConnectionRefusedError
        return self.read()


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def identity(tmp_path: Path):
    return Identity(tmp_path, ISSUER)


@pytest.fixture
def issuer(identity):
    return Issuer(identity.jwks)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def verifier(issuer, clock):
    return TokenVerifier(
        issuer=ISSUER, audiences=[RESOURCE, "http://localhost:1/mcp"], keys=KeySet(issuer, clock=clock)
    )


def bearer(token: str) -> str:
    return f"Bearer {token}"


def part(value) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def claims(**changed):
    now = int(time.time())
    return {"iss": ISSUER, "sub": "alice", "aud": RESOURCE, "exp": now + 60, "scope": "context:read"} | changed


def test_a_good_token_names_the_user_and_the_scopes(identity, verifier):
    token = identity.mint("alice", scopes=["context:read", "context:write"], audience=RESOURCE)
    principal = verifier.verify(bearer(token))
    assert principal.user_id == "alice"
    assert principal.scopes == {"context:read", "context:write"}


def test_any_configured_audience_will_do(identity, verifier):
    assert verifier.verify(bearer(identity.mint("a", audience="http://localhost:1/mcp"))).user_id == "a"


def test_the_scheme_is_read_in_any_case(identity, verifier):
    assert verifier.verify("bearer  " + identity.mint("a", audience=RESOURCE)).user_id == "a"


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Basic YTpi", "token", "Bearer a.b.c", "Bearer 사과"]
)
def test_what_is_no_bearer_token_is_refused(verifier, header):
    with pytest.raises(UnauthorizedError):
        verifier.verify(header)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"expires_s": -60}, "expired"),
        ({"audience": "https://other.example/mcp"}, "another audience"),
        ({"audience": RESOURCE + "/"}, "another audience"),
    ],
)
def test_a_token_not_for_here_or_not_for_now_is_refused(identity, verifier, changed, told):
    with pytest.raises(UnauthorizedError, match=told):
        verifier.verify(bearer(identity.mint("alice", **({"audience": RESOURCE} | changed))))


def test_a_token_of_another_issuer_is_refused_though_the_key_is_known(tmp_path, verifier):
    twin = Identity(tmp_path, "https://issuer.example.evil")
    with pytest.raises(UnauthorizedError, match="another issuer"):
        verifier.verify(bearer(twin.mint("alice", audience=RESOURCE)))


def test_a_token_without_a_signature_is_refused(identity, verifier):
    key_id = identity.jwks()["keys"][0]["kid"]
    for algorithm in ("none", "None", "NONE", ""):
        token = f"{part({'alg': algorithm, 'kid': key_id})}.{part(claims())}."
        with pytest.raises(UnauthorizedError):
            verifier.verify(bearer(token))


def test_the_public_key_cannot_be_used_as_a_secret(identity, verifier):
    jwk = identity.jwks()["keys"][0]
    public = jwt.PyJWK.from_dict(jwk).key
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415

    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    signed = f"{part({'alg': 'HS256', 'kid': jwk['kid']})}.{part(claims())}"
    signature = base64.urlsafe_b64encode(hmac.new(pem, signed.encode(), hashlib.sha256).digest()).decode().rstrip("=")
    with pytest.raises(UnauthorizedError, match="RS256 or ES256"):
        verifier.verify(bearer(f"{signed}.{signature}"))


def test_a_changed_token_is_refused(identity, verifier):
    head, _, signature = identity.mint("alice", audience=RESOURCE).split(".")
    with pytest.raises(UnauthorizedError, match="not valid"):
        verifier.verify(bearer(f"{head}.{part(claims(sub='bob'))}.{signature}"))


@pytest.mark.parametrize("missing", ["exp", "iss", "aud", "sub"])
def test_a_token_that_lacks_a_claim_is_refused(identity, verifier, missing):
    key_id, key = identity._keys()[-1]
    partial = {name: value for name, value in claims().items() if name != missing}
    token = jwt.encode(partial, key, algorithm="ES256", headers={"kid": key_id})
    with pytest.raises(UnauthorizedError):
        verifier.verify(bearer(token))


@pytest.mark.parametrize("subject", ["", "a\u0000b", "x" * 257, "line\nbreak"])
def test_a_subject_that_cannot_name_a_user_is_refused(identity, verifier, subject):
    with pytest.raises(UnauthorizedError, match="subject"):
        verifier.verify(bearer(identity.mint(subject, audience=RESOURCE)))


def test_a_subject_may_be_written_in_any_script(identity, verifier):
    assert verifier.verify(bearer(identity.mint("김하나 😀", audience=RESOURCE))).user_id == "김하나 😀"


def test_an_unknown_key_is_refused_and_looked_for_only_now_and_then(tmp_path, issuer, verifier, identity, clock):
    verifier.verify(bearer(identity.mint("alice", audience=RESOURCE)))
    stranger = Identity(tmp_path / "stranger", ISSUER)
    for _ in range(5):
        with pytest.raises(UnauthorizedError, match="unknown key"):
            verifier.verify(bearer(stranger.mint("alice", audience=RESOURCE)))
    assert issuer.looks == 2
    clock.now += REFETCH_INTERVAL_S + 1
    for _ in range(5):
        with pytest.raises(UnauthorizedError, match="unknown key"):
            verifier.verify(bearer(stranger.mint("alice", audience=RESOURCE)))
    assert issuer.looks == 3


def test_a_rotated_key_is_found_at_once_and_the_old_one_still_verifies(identity, verifier):
    before = identity.mint("alice", audience=RESOURCE)
    verifier.verify(bearer(before))
    identity.rotate()
    assert verifier.verify(bearer(identity.mint("bob", audience=RESOURCE))).user_id == "bob"
    assert verifier.verify(bearer(before)).user_id == "alice"


def test_a_good_token_is_checked_once_a_minute_and_never_past_its_expiry(tmp_path, identity, issuer):
    now = Clock()
    now.now = time.time()
    verifier = TokenVerifier(issuer=ISSUER, audiences=[RESOURCE], keys=KeySet(issuer, clock=lambda: 0.0), clock=now)
    looked_up = []
    verifier._keys.key = lambda key_id, key=verifier._keys.key: (looked_up.append(key_id), key(key_id))[1]
    token = bearer(identity.mint("alice", audience=RESOURCE, expires_s=90))
    for _ in range(3):
        assert verifier.verify(token).user_id == "alice"
    assert len(looked_up) == 1
    now.now += 61
    verifier.verify(token)
    assert len(looked_up) == 2
    now.now += 30
    verifier.verify(token)
    assert len(looked_up) == 3


def test_the_memory_for_good_tokens_is_bounded(identity, verifier):
    for number in range(300):
        verifier.verify(bearer(identity.mint(f"user-{number}", audience=RESOURCE)))
    assert len(verifier._good) == 256


def test_keys_are_fetched_again_after_an_hour_and_kept_while_the_issuer_is_down(identity, issuer, verifier, clock):
    verifier.verify(bearer(identity.mint("alice", audience=RESOURCE)))
    issuer.down = True
    clock.now += KEYS_LIFETIME_S + 1
    assert verifier.verify(bearer(identity.mint("bob", audience=RESOURCE))).user_id == "bob"
    assert issuer.looks == 2


def test_an_issuer_that_never_answered_is_our_fault_and_not_the_callers(identity, issuer, verifier):
    issuer.down = True
    with pytest.raises(UnavailableError):
        verifier.verify(bearer(identity.mint("alice", audience=RESOURCE)))


def test_rs256_is_accepted_too(clock):
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    jwk = json.loads(RSAAlgorithm.to_jwk(key.public_key())) | {"kid": "r1", "alg": "RS256", "use": "sig"}
    verifier = TokenVerifier(issuer=ISSUER, audiences=[RESOURCE], keys=KeySet(lambda: {"keys": [jwk]}, clock=clock))
    token = jwt.encode(claims(), key, algorithm="RS256", headers={"kid": "r1"})
    assert verifier.verify(bearer(token)).scopes == {"context:read"}


def test_a_jwks_url_must_be_http():
    with pytest.raises(ValueError, match="http"):
        fetch_keys_from("file:///etc/passwd")
