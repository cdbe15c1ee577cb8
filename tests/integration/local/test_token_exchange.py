"""The JWT bearer grant of the development issuer, asked by the gateway's own client over HTTP."""

import asyncio
import threading
import time

import httpx
import jwt
import pytest

from satchel.errors import UnavailableError
from satchel.gateway.delegation import Delegation
from satchel.local import authorization_server
from satchel.local.identity import Identity
from satchel.local.server import Server, address, listen
from satchel.local.token_exchange import CLIENT_ID, TokenEndpoint, gateway_key


@pytest.fixture
def issuer(tmp_path):
    """A running issuer: its identity, its URL and the gateway's key."""
    front = listen()
    url = f"http://{address(front)}"
    identity, key = Identity(tmp_path, url), gateway_key(tmp_path)
    others = authorization_server.build(identity, [f"{url}/mcp"])
    server = Server({front: TokenEndpoint(identity, key=key, audience=f"{url}/mcp", others=others)})
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
    yield identity, url, key
    asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
    front.close()


def delegation(issuer, **changes):
    _, url, key = issuer
    given = {"token_url": f"{url}/token", "client_id": CLIENT_ID, "key": lambda: key, "resource": f"{url}/mcp"}
    return Delegation(**{**given, **changes})


def claims(issuer, token):
    identity, url, _ = issuer
    return jwt.decode(token, identity.public_keys()[0], algorithms=["ES256"], audience=f"{url}/mcp", issuer=url)


def test_the_token_is_the_users_for_minutes_and_names_who_asked(issuer):
    told = claims(issuer, delegation(issuer).token("미나", ["context:write", "context:read"]))
    assert (told["sub"], told["scope"], told["client_id"]) == ("미나", "context:read context:write", CLIENT_ID)
    assert told["exp"] - told["iat"] <= 600


def test_no_more_scopes_than_were_asked_for_and_none_that_trade_for_real(issuer):
    token = delegation(issuer).token("alice", ["context:read", "trade:live"])
    assert claims(issuer, token)["scope"] == "context:read"


def test_a_token_is_kept_for_its_user_and_asked_for_again_near_its_end(issuer, monkeypatch):
    now, asked = [1_000.0], []
    asking = delegation(issuer, clock=lambda: now[0])
    monkeypatch.setattr(asking, "_ask", lambda user, _scope: (asked.append(user) or f"{user}-{len(asked)}", 600.0))
    assert [asking.token(user, ["context:read"]) for user in ("alice", "alice", "bob")] == [
        "alice-1",
        "alice-1",
        "bob-2",
    ]
    now[0] += 539
    assert asking.token("alice", ["context:read"]) == "alice-1"
    now[0] += 2
    assert asking.token("alice", ["context:read"]) == "alice-3"


@pytest.mark.parametrize(
    "changes",
    [
        {"key": lambda: "x" * 48},
        {"client_id": "somebody-else"},
        {"clock": lambda: time.time() - 3600},
        {"token_url": "http://127.0.0.1:9/token"},
        {"token_url": ""},
    ],
    ids=["another key", "another client", "an old assertion", "nobody there", "no issuer"],
)
def test_anybody_else_gets_nothing(issuer, changes):
    with pytest.raises(UnavailableError):
        delegation(issuer, **changes).token("alice", ["context:read"])


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"abc", "multipart/form-data"),
        (b"&".join(b"a%d=1" % number for number in range(1_500)), "application/x-www-form-urlencoded"),
        (b"assertion=" + b"x" * 1_100_000, "application/x-www-form-urlencoded"),
    ],
    ids=["no boundary", "too many fields", "too long a field"],
)
def test_a_form_that_cannot_be_read_is_the_callers_fault(issuer, body, kind):
    answer = httpx.post(f"{issuer[1]}/token", content=body, headers={"content-type": kind})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


def test_the_key_is_made_once_and_is_the_owners_alone(tmp_path):
    key = gateway_key(tmp_path)
    assert gateway_key(tmp_path) == key
    assert (tmp_path / "identity/gateway.key").stat().st_mode & 0o777 == 0o600
