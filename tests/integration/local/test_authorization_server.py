"""A real MCP client signs in by itself: the SDK's OAuth client, over HTTP, against the adapter and our server."""

import asyncio
import json
import re
import socket
import stat
import threading
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import httpx2
import jwt
import pytest
import uvicorn
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.oauth2 import AuthorizationCodeResult
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Mount, Route

from satchel.api.auth import KeySet, TokenVerifier
from satchel.api.listing import catalogue
from satchel.api.mcp.adapter import McpAdapter
from satchel.api.mcp.admission import Admission
from satchel.api.mcp.endpoint import McpEndpoint
from satchel.api.mcp.server import build_server
from satchel.local import authorization_server
from satchel.local.identity import DEVELOPMENT_SCOPES, Identity
from tests.support.lambda_front import Context, http_event

REDIRECT = "http://127.0.0.1:53682/callback"


@contextmanager
def running(app, listener):
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


class Site:
    """One origin with the authorization server and the MCP endpoint, as the local stack has it."""

    def __init__(self, folder, base):
        self.base = base
        self.mcp = f"{base}/mcp"
        self.identity = Identity(folder, base)
        self.requests = []
        listed = catalogue()
        server = build_server(listed, self, version="1", request_state_keys=lambda: ("k" * 32,))
        self.adapter = McpAdapter(
            endpoint=McpEndpoint(server, listed),
            functions=self,
            catalogue=listed,
            verifier=TokenVerifier(issuer=base, audiences=[self.mcp], keys=KeySet(self.identity.jwks)),
            admission=Admission(),
            issuer=base,
        )
        self._turn = threading.Lock()
        oauth = authorization_server.build(self.identity, [self.mcp])
        self.app = Starlette(
            routes=[
                Route("/mcp", self._answer, methods=["GET", "POST"]),
                Route("/.well-known/oauth-protected-resource/mcp", self._answer),
                Mount("/", oauth),
            ]
        )

    def invoke(self, function, request, *, timeout_s):
        self.requests.append((function, request))
        return {"contents": [{"uri": request["resource"], "mimeType": "text/plain", "text": "User Profile:"}]}

    async def _answer(self, request):
        event = http_event(request.method, request.url.path, headers=dict(request.headers), body=await request.body())
        answer = await run_in_threadpool(self._handle, event)
        return Response(answer["body"], answer["statusCode"], answer["headers"])

    def _handle(self, event):
        with self._turn:
            return self.adapter.handle(event, Context())


@pytest.fixture
def site(tmp_path):
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    site = Site(tmp_path, f"http://127.0.0.1:{listener.getsockname()[1]}")
    with running(site.app, listener):
        yield site
    site.adapter.close()


@pytest.fixture
def browser(site):
    with httpx2.Client(base_url=site.base, follow_redirects=False) as client:
        yield client


class Storage:
    def __init__(self):
        self.tokens = None
        self.client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


def agree(browser, url, *, user="alice", decision="allow"):
    """What a person does in the browser; the parameters the client gets back."""
    shown = browser.get(url)
    assert shown.status_code == 302
    page = browser.get(shown.headers["location"])
    assert page.status_code == 200
    name = re.search(r'name="request" value="([^"]+)"', page.text)[1]
    done = browser.post("/consent", data={"request": name, "user": user, "decision": decision})
    assert done.status_code == 303
    assert done.headers["location"].startswith(REDIRECT)
    return {key: values[0] for key, values in parse_qs(urlsplit(done.headers["location"]).query).items()}


def register(browser, **changed):
    metadata = {"redirect_uris": [REDIRECT], "client_name": "Test", "token_endpoint_auth_method": "none"} | changed
    return browser.post("/register", json=metadata)


def authorize_url(client_id, **changed):
    parameters = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": REDIRECT,
        # The example of RFC 7636, appendix B.
        "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        "code_challenge_method": "S256",
        "state": "st",
    } | changed
    return str(httpx2.URL("/authorize", params={k: v for k, v in parameters.items() if v is not None}))


def exchange(browser, client_id, code, **changed):
    form = {
        "grant_type": "authorization_code",
        "client_id": client_id,
        "code": code,
        "redirect_uri": REDIRECT,
        "code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    } | changed
    return browser.post("/token", data=form)


def test_a_client_that_knows_nothing_but_the_url_signs_in_and_reads(site, browser):
    seen = {}

    async def redirect(url):
        seen.update(agree(browser, url, user="김하나"))

    async def callback():
        return AuthorizationCodeResult(code=seen["code"], state=seen["state"], iss=seen["iss"])

    async def use():
        storage = Storage()
        provider = OAuthClientProvider(
            server_url=site.mcp,
            client_metadata=OAuthClientMetadata(redirect_uris=[REDIRECT], client_name="Test <b>client</b>"),
            storage=storage,
            redirect_handler=redirect,
            callback_handler=callback,
        )
        async with (
            httpx2.AsyncClient(auth=provider) as http,
            Client(streamable_http_client(site.mcp, http_client=http)) as client,
        ):
            profile = await client.read_resource("context://user-profile")
            return storage.tokens, profile.contents[0].text

    tokens, text = asyncio.run(use())
    assert text == "User Profile:"
    claims = jwt.decode(tokens.access_token, options={"verify_signature": False})
    assert (claims["sub"], claims["aud"], claims["iss"]) == ("김하나", site.mcp, site.base)
    assert site.requests[0][1]["principal"]["user_id"] == "김하나"


def test_the_metadata_names_the_issuer_to_the_letter(site, browser):
    document = browser.get("/.well-known/oauth-authorization-server").json()
    assert document["issuer"] == site.base
    assert document["code_challenge_methods_supported"] == ["S256"]
    assert "none" in document["token_endpoint_auth_methods_supported"]
    assert document["subject_types_supported"] is None
    assert browser.get(document["jwks_uri"]).json() == site.identity.jwks()


def test_a_code_makes_tokens_once(browser):
    client_id = register(browser).json()["client_id"]
    code = agree(browser, authorize_url(client_id))["code"]
    first = exchange(browser, client_id, code)
    assert first.status_code == 200
    assert first.json()["scope"].split() == list(DEVELOPMENT_SCOPES)
    assert exchange(browser, client_id, code).json()["error"] == "invalid_grant"


def test_the_verifier_of_the_challenge_is_needed(browser):
    client_id = register(browser).json()["client_id"]
    code = agree(browser, authorize_url(client_id))["code"]
    assert exchange(browser, client_id, code, code_verifier="x" * 43).json()["error"] == "invalid_grant"
    assert (
        browser.get(authorize_url(client_id, code_challenge=None)).headers["location"].startswith(REDIRECT + "?error=")
    )


def test_a_refresh_token_works_once_and_after_a_restart(site, browser, tmp_path):
    client_id = register(browser).json()["client_id"]
    tokens = exchange(browser, client_id, agree(browser, authorize_url(client_id))["code"]).json()
    refresh = {"grant_type": "refresh_token", "client_id": client_id, "refresh_token": tokens["refresh_token"]}
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    port = listener.getsockname()[1]
    again = authorization_server.build(Identity(tmp_path, site.base), [site.mcp])
    with running(again, listener), httpx2.Client(base_url=f"http://127.0.0.1:{port}") as restarted:
        renewed = restarted.post("/token", data=refresh)
        assert renewed.status_code == 200
        assert jwt.decode(renewed.json()["access_token"], options={"verify_signature": False})["sub"] == "alice"
        assert restarted.post("/token", data=refresh).json()["error"] == "invalid_grant"


def test_what_is_remembered_holds_no_token_and_is_the_owners_alone(browser, tmp_path):
    client_id = register(browser).json()["client_id"]
    tokens = exchange(browser, client_id, agree(browser, authorize_url(client_id))["code"]).json()
    file = tmp_path / "identity" / "oauth.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert tokens["refresh_token"] not in file.read_text()
    assert client_id in json.loads(file.read_text())["clients"]


def test_a_refusal_goes_back_to_the_client(browser):
    client_id = register(browser).json()["client_id"]
    returned = agree(browser, authorize_url(client_id), decision="deny")
    assert (returned["error"], returned["state"]) == ("access_denied", "st")


def test_no_token_is_made_for_a_resource_that_is_not_ours(browser):
    client_id = register(browser).json()["client_id"]
    answer = browser.get(authorize_url(client_id, resource="https://other.example/mcp"))
    assert "error=invalid_target" in answer.headers["location"]


def test_a_resource_may_be_named_with_its_tool_sets(site, browser):
    client_id = register(browser).json()["client_id"]
    code = agree(browser, authorize_url(client_id, resource=f"{site.mcp}?toolsets=default"))["code"]
    token = exchange(browser, client_id, code).json()["access_token"]
    assert jwt.decode(token, options={"verify_signature": False})["aud"] == site.mcp


@pytest.mark.parametrize("name", ["localhost", "[::1]", "127.0.0.2"])
def test_a_token_for_another_name_of_this_machine_is_one_that_the_adapter_takes(site, browser, name):
    client_id = register(browser).json()["client_id"]
    alias = site.mcp.replace("127.0.0.1", name)
    code = agree(browser, authorize_url(client_id, resource=alias))["code"]
    token = exchange(browser, client_id, code).json()["access_token"]
    assert jwt.decode(token, options={"verify_signature": False})["aud"] == site.mcp


@pytest.mark.parametrize(
    "resource", ["http://localhost:1/mcp", "http://127.0.0.1/mcp", "http://localhost.evil/mcp", "http://[x"]
)
def test_another_port_or_place_is_another_resource(browser, resource):
    client_id = register(browser).json()["client_id"]
    answer = browser.get(authorize_url(client_id, resource=resource))
    assert "error=invalid_target" in answer.headers["location"]


def test_live_trading_cannot_be_asked_for(browser):
    assert register(browser, scope="trade:live").status_code == 400
    client_id = register(browser).json()["client_id"]
    answer = browser.get(authorize_url(client_id, scope="trade:live"))
    assert "error=invalid_scope" in answer.headers["location"]


def test_a_client_may_ask_for_more_than_it_first_said(browser):
    client_id = register(browser, scope="context:read").json()["client_id"]
    code = agree(browser, authorize_url(client_id, scope="context:read context:write"))["code"]
    assert exchange(browser, client_id, code).json()["scope"] == "context:read context:write"


def test_the_page_shows_names_as_text_and_lets_nobody_frame_it(browser):
    client_id = register(browser, client_name="<script>alert(1)</script>").json()["client_id"]
    shown = browser.get(authorize_url(client_id))
    page = browser.get(shown.headers["location"])
    assert "<script>" not in page.text
    assert "&lt;script&gt;" in page.text
    assert page.headers["x-frame-options"] == "DENY"
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_a_rebound_host_can_neither_see_the_page_nor_click(browser):
    client_id = register(browser).json()["client_id"]
    location = browser.get(authorize_url(client_id)).headers["location"]
    name = parse_qs(urlsplit(location).query)["request"][0]
    evil = {"host": "evil.example"}
    assert browser.get(location, headers=evil).status_code == 400
    form = {"request": name, "user": "alice", "decision": "allow"}
    assert browser.post("/consent", data=form, headers=evil).status_code == 400
    assert browser.post("/consent", data=form).status_code == 303
    assert browser.post("/consent", data=form).status_code == 400


def test_a_user_must_be_named(browser):
    client_id = register(browser).json()["client_id"]
    location = browser.get(authorize_url(client_id)).headers["location"]
    name = parse_qs(urlsplit(location).query)["request"][0]
    for user in (" ", "a\nb", "a\x00b", "u" * 257):
        assert browser.post("/consent", data={"request": name, "user": user, "decision": "allow"}).status_code == 400
