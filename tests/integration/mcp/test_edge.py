"""The rules of the HTTP edge, on the handler itself."""

import base64
import json

import pytest

from tests.integration.mcp.conftest import ISSUER, RESOURCE
from tests.support.lambda_front import Context, http_event

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
_TWO_ROLES = b'{"session_id":"c1","role":"user","role":"system","content":"hi"}}}'
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def modern(method, params=None, *, request_id=1):
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {**(params or {}), "_meta": ENVELOPE}}


def modern_headers(method, name=None):
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": method}
    return headers | ({"mcp-name": name} if name else {})


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"])
def test_every_method_but_post_is_refused_at_once(bench, method):
    answer = bench.adapter.handle(http_event(method, "/mcp"), Context())
    assert answer["statusCode"] == 405
    assert answer["headers"]["allow"] == "POST"


def test_another_path_is_told_where_to_go(bench):
    answer = bench.post(INITIALIZE, path="/mcp/nope")
    assert answer["statusCode"] == 404
    assert json.loads(answer["body"])["error"]["code"] == "not_found"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:3000", "xn--80ak6aa92e.com", ""])
def test_a_foreign_host_is_refused(bench, host):
    assert bench.post(INITIALIZE, headers={"host": host})["statusCode"] == 403


@pytest.mark.parametrize(
    "host", ["localhost:5173", "127.0.0.1:1", "[::1]:3000", "api.example.com", "API.example.com:443"]
)
def test_known_hosts_may_ask(bench, host):
    assert bench.post(INITIALIZE, headers={"host": host})["statusCode"] == 200


def test_an_api_gateway_domain_is_known_by_its_own_request(bench):
    own = "abc.execute-api.eu-west-1.amazonaws.com"
    assert bench.post(INITIALIZE, headers={"host": own})["statusCode"] == 200
    event = http_event("POST", "/mcp", headers={"host": own})
    event["requestContext"]["domainName"] = "other.execute-api.eu-west-1.amazonaws.com"
    assert bench.adapter.handle(event, Context())["statusCode"] == 403


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost.evil.example", "ftp://localhost", "http://[::1"]
)
def test_a_foreign_origin_is_refused_and_gets_no_cors_headers(bench, origin):
    answer = bench.post(INITIALIZE, headers={"origin": origin})
    assert answer["statusCode"] == 403
    assert not [name for name in answer["headers"] if name.startswith("access-control")]


@pytest.mark.parametrize("origin", ["http://localhost:6274", "https://console.example.com", "http://127.0.0.1:8080"])
@pytest.mark.parametrize(
    ("path", "token", "status"), [("/mcp", None, 200), ("/mcp", "nonsense", 401), ("/mcp/nope", None, 404)]
)
def test_a_known_origin_can_read_every_answer(bench, origin, path, token, status):
    answer = bench.post(INITIALIZE, path=path, token=token, headers={"origin": origin})
    assert answer["statusCode"] == status
    assert answer["headers"]["access-control-allow-origin"] == origin
    exposed = answer["headers"]["access-control-expose-headers"]
    assert "WWW-Authenticate" in exposed
    assert "Retry-After" in exposed
    assert "access-control-allow-credentials" not in answer["headers"]


def test_without_a_token_the_challenge_leads_to_the_metadata(bench):
    answer = bench.post(INITIALIZE, headers={"authorization": None})
    assert answer["statusCode"] == 401
    assert answer["headers"]["www-authenticate"] == (
        'Bearer scope="context:read context:write", '
        'resource_metadata="http://127.0.0.1:3000/.well-known/oauth-protected-resource/mcp"'
    )
    assert json.loads(answer["body"])["error"] == {
        "code": "unauthorized",
        "field": None,
        "message": "a bearer token is needed",
        "request_id": "request-1",
    }


def test_a_bad_token_is_called_invalid(bench):
    answer = bench.post(INITIALIZE, token=bench.token(audience="https://other.example/mcp"))
    assert answer["statusCode"] == 401
    assert 'error="invalid_token"' in answer["headers"]["www-authenticate"]
    assert bench.functions.requests == []


def test_a_missing_scope_is_asked_for_beside_those_already_granted(bench):
    token = bench.token(scopes=["context:read"])
    call = {"name": "save_message", "arguments": {"role": "user", "content": "hi"}}
    answer = bench.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}, token=token)
    assert answer["statusCode"] == 403
    challenge = answer["headers"]["www-authenticate"]
    assert 'error="insufficient_scope"' in challenge
    assert 'scope="context:read context:write"' in challenge
    assert json.loads(answer["body"])["error"]["code"] == "forbidden"
    assert bench.functions.requests == []


def test_reading_needs_a_scope_in_both_eras(bench):
    token = bench.token(scopes=["context:write"])
    uri = "context://user-profile"
    assert bench.call("resources/read", {"uri": uri}, token=token)[0] == 403
    answer = bench.post(
        modern("resources/read", {"uri": uri}), headers=modern_headers("resources/read", uri), token=token
    )
    assert answer["statusCode"] == 403


@pytest.mark.parametrize("suffix", ["", "/mcp"])
def test_the_metadata_needs_no_token(bench, suffix):
    answer = bench.adapter.handle(http_event("GET", "/.well-known/oauth-protected-resource" + suffix), Context())
    assert answer["statusCode"] == 200
    document = json.loads(answer["body"])
    assert document["resource"] == RESOURCE
    assert document["authorization_servers"] == [ISSUER]
    assert set(document["scopes_supported"]) >= {"context:read", "context:write"}


@pytest.mark.parametrize(
    ("raw_path", "host", "resource"),
    [
        (
            "/prod{}",
            "abc.execute-api.eu-west-1.amazonaws.com",
            "https://abc.execute-api.eu-west-1.amazonaws.com/prod/mcp",
        ),
        ("{}", "api.example.com", "https://api.example.com/mcp"),
    ],
)
def test_links_name_the_url_the_caller_used(bench, raw_path, host, resource):
    def ask(method, path, headers):
        event = http_event(method, raw_path.format(path), headers={"host": host, **headers})
        event["requestContext"]["stage"] = "prod"
        return bench.adapter.handle(event, Context())

    metadata = ask("GET", "/.well-known/oauth-protected-resource/mcp", {})
    assert json.loads(metadata["body"])["resource"] == resource
    refused = ask("POST", "/mcp", {"content-type": "application/json"})
    link = resource.removesuffix("/mcp") + "/.well-known/oauth-protected-resource/mcp"
    assert f'resource_metadata="{link}"' in refused["headers"]["www-authenticate"]


def test_a_base64_body_is_read_and_the_answer_is_text(bench):
    bench.functions.answers["save_message"] = lambda request: {
        "structuredContent": {"echo": request["arguments"]["content"]}
    }
    call = {"name": "save_message", "arguments": {"role": "user", "content": "Grüße 😀 안녕"}}
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}, ensure_ascii=False)
    event = http_event(
        "POST",
        "/mcp",
        headers={"content-type": "application/json", "authorization": f"Bearer {bench.token()}"},
    )
    event |= {"isBase64Encoded": True, "body": base64.b64encode(message.encode()).decode()}
    answer = bench.adapter.handle(event, Context())
    assert answer["statusCode"] == 200
    assert answer["isBase64Encoded"] is False
    assert json.loads(answer["body"])["result"]["structuredContent"] == {"echo": "Grüße 😀 안녕"}


def test_broken_base64_is_a_400(bench):
    event = http_event(
        "POST", "/mcp", headers={"content-type": "application/json", "authorization": f"Bearer {bench.token()}"}
    )
    answer = bench.adapter.handle(event | {"isBase64Encoded": True, "body": "%%%"}, Context())
    assert answer["statusCode"] == 400


@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"save_message","arguments":' + _TWO_ROLES,
        b'{"jsonrpc":"2.0","id":7,"id":8,"method":"tools/list"}',
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"save_message","arguments":{"x":NaN}}}',
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"save_message","arguments":{"x":1e999}}}',
        b'{"jsonrpc":"2.0","id":7',
        b"\xff\xfe",
        b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b"1" * 5000,
        b"",
    ],
)
def test_what_two_readers_could_read_differently_is_a_parse_error(bench, body):
    answer = bench.post(body)
    assert answer["statusCode"] == 400
    error = json.loads(answer["body"])
    assert error["error"]["code"] == -32700
    assert error["id"] is None
    assert bench.functions.requests == []


@pytest.mark.parametrize(
    "body",
    [
        [],
        [INITIALIZE],
        1,
        "x",
        None,
        {},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "method": 5},
    ],
)
def test_what_is_no_single_message_is_refused(bench, body):
    answer = bench.post(body)
    assert answer["statusCode"] == 400
    assert json.loads(answer["body"])["error"]["code"] == -32600


@pytest.mark.parametrize(
    ("message", "headers"),
    [
        ({"jsonrpc": "2.0", "method": "notifications/initialized"}, {}),
        (
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
            {"mcp-protocol-version": "2025-11-25"},
        ),
        ({"jsonrpc": "2.0", "method": "notifications/anything"}, {"mcp-protocol-version": "2026-07-28"}),
        ({"jsonrpc": "2.0", "id": 3, "result": {}}, {"mcp-protocol-version": "2025-06-18"}),
    ],
)
def test_what_needs_no_answer_is_accepted_with_an_empty_body(bench, message, headers):
    answer = bench.post(message, headers=headers)
    assert (answer["statusCode"], answer["body"]) == (202, "")


def test_a_modern_body_without_the_version_header_is_a_mismatch(bench):
    answer = bench.post(modern("tools/list"))
    assert answer["statusCode"] == 400
    assert json.loads(answer["body"])["error"]["code"] == -32020


def test_an_unknown_version_is_told_which_ones_are_served(bench):
    message = modern("tools/list")
    message["params"]["_meta"] = ENVELOPE | {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    answer = bench.post(message, headers=modern_headers("tools/list") | {"mcp-protocol-version": "2099-01-01"})
    assert answer["statusCode"] == 400
    error = json.loads(answer["body"])["error"]
    assert error["code"] == -32022
    assert error["data"]["supported"] == ["2026-07-28"]


@pytest.mark.parametrize("method", ["initialize", "ping", "subscriptions/listen", "resources/subscribe", "nonsense/x"])
def test_what_the_modern_revision_does_not_have_here_is_not_found(bench, method):
    params = {"notifications": {}} if method == "subscriptions/listen" else {}
    answer = bench.post(modern(method, params, request_id="r1"), headers=modern_headers(method))
    assert answer["statusCode"] == 404
    body = json.loads(answer["body"])
    assert (body["id"], body["error"]["code"]) == ("r1", -32601)


def test_no_change_is_announced_and_nothing_can_be_subscribed(bench):
    _, old = bench.call("initialize", INITIALIZE["params"])
    answer = bench.post(modern("server/discover"), headers=modern_headers("server/discover"))
    for capabilities in (old["result"]["capabilities"], json.loads(answer["body"])["result"]["capabilities"]):
        assert capabilities == {
            "prompts": {"listChanged": False},
            "resources": {"listChanged": False, "subscribe": False},
            "tools": {"listChanged": False},
        }


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_every_handshake_revision_is_agreed_to(bench, version):
    params = INITIALIZE["params"] | {"protocolVersion": version}
    status, body = bench.call("initialize", params, headers={"mcp-protocol-version": version})
    assert status == 200
    assert body["result"]["protocolVersion"] == version


@pytest.mark.parametrize(
    ("accept", "status", "kind"),
    [
        ("application/json", 200, "application/json"),
        ("application/json, text/event-stream", 200, "application/json"),
        ("*/*", 200, "application/json"),
        (None, 200, "application/json"),
        ("text/event-stream", 200, "text/event-stream"),
        ("text/html", 406, "application/json"),
    ],
)
def test_the_answer_has_a_form_the_client_takes(bench, accept, status, kind):
    answer = bench.post(INITIALIZE, headers={"accept": accept})
    assert (answer["statusCode"], answer["headers"]["content-type"]) == (status, kind)
    if kind == "text/event-stream":
        assert answer["body"].startswith("event: message\r\ndata: {")


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", None])
def test_a_body_that_is_not_called_json_is_refused(bench, content_type):
    assert bench.post(INITIALIZE, headers={"content-type": content_type})["statusCode"] == 415
