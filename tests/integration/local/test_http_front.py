"""The HTTP API in front of the functions, byte for byte as API Gateway answers."""

import base64
import contextlib
import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

ORIGIN = "http://localhost:6274"


def event_of(running, method: str, path: str, **more: Any) -> dict[str, Any]:
    answer = httpx.request(method, running.url + path, timeout=20, **more)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_request_becomes_a_version_2_event(running):
    headers = [("X-Twice", "a"), ("x-twice", "b"), ("Cookie", "one=1; two=2"), ("User-Agent", "probe/1")]
    event = event_of(running, "POST", "/echo?q=%ED%95%9C+x&q=2&empty=", headers=headers, json={"text": "안녕"})
    assert event["version"] == "2.0"
    assert event["routeKey"] == "ANY /echo"
    assert event["rawPath"] == "/echo"
    assert event["rawQueryString"] == "q=%ED%95%9C+x&q=2&empty="
    assert event["queryStringParameters"] == {"q": "한 x,2", "empty": ""}
    assert event["headers"]["x-twice"] == "a,b"
    assert "cookie" not in event["headers"]
    assert event["cookies"] == ["one=1", "two=2"]
    assert json.loads(event["body"]) == {"text": "안녕"}
    assert event["isBase64Encoded"] is False
    context = event["requestContext"]
    assert context["http"] == {
        "method": "POST",
        "path": "/echo",
        "protocol": "HTTP/1.1",
        "sourceIp": "127.0.0.1",
        "userAgent": "probe/1",
    }
    assert context["stage"] == "$default"
    assert context["domainName"] == urlsplit(running.url).netloc
    assert context["timeEpoch"] > 1_700_000_000_000
    assert "authorizer" not in context


def test_a_binary_body_travels_in_base64_and_so_does_text_that_is_not_utf_8(running):
    for content_type in ("application/octet-stream", "text/plain"):
        event = event_of(running, "POST", "/echo", content=b"\xff\x00\xfe", headers={"content-type": content_type})
        assert event["isBase64Encoded"] is True
        assert base64.b64decode(event["body"]) == b"\xff\x00\xfe"


def test_a_request_without_a_body_has_none(running):
    event = event_of(running, "GET", "/echo")
    assert "body" not in event
    assert "queryStringParameters" not in event


def test_an_escaped_colon_in_the_path_is_a_colon(running):
    for path in ("/v1/things:build", "/v1/things%3Abuild", "/v1/things%3abuild"):
        assert event_of(running, "POST", path)["rawPath"] == "/v1/things:build"


def test_path_parameters_arrive_decoded(running):
    assert event_of(running, "GET", "/items/%EA%B0%80%2Fb")["pathParameters"] == {"id": "가/b"}
    assert event_of(running, "GET", "/files/a/b")["pathParameters"] == {"proxy": "a/b"}


def test_an_answer_has_its_status_headers_and_every_cookie(running):
    answer = httpx.get(running.url + "/echo?answer=full")
    assert answer.status_code == 201
    assert answer.headers["x-one"] == "1"
    assert answer.headers["content-type"] == "text/plain;charset=UTF-8"
    assert answer.headers.get_list("set-cookie") == ["a=1; Path=/", "b=2"]
    assert answer.text == "grüße 😀"
    assert answer.headers["apigw-requestid"]


def test_an_answer_in_base64_arrives_as_bytes(running):
    answer = httpx.get(running.url + "/echo?answer=binary")
    assert answer.headers["content-type"] == "image/png"
    assert answer.content == b"\x89PNG"[:4]


def test_an_object_without_a_status_is_a_200_in_json(running):
    answer = httpx.get(running.url + "/echo?answer=plain")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {"hello": "wörld"}


def test_a_204_has_no_body(running):
    answer = httpx.get(running.url + "/echo?answer=empty")
    assert answer.status_code == 204
    assert answer.content == b""


def test_an_answer_that_is_none_and_a_handler_that_raises_are_500(running):
    for answer in ("nonsense", "no-such-answer"):
        response = httpx.get(f"{running.url}/echo?answer={answer}")
        assert response.status_code == 500
        assert response.json() == {"message": "Internal Server Error"}


def test_a_path_without_a_route_is_not_found(running):
    for method, path in (("GET", "/nowhere"), ("DELETE", "/items/1"), ("GET", "/items"), ("GET", "/items/1/2")):
        answer = httpx.request(method, running.url + path)
        assert answer.status_code == 404
        assert answer.json() == {"message": "Not Found"}


def test_a_request_over_its_time_is_503(running):
    answer = httpx.get(running.url + "/echo?sleep_s=3", timeout=20)
    assert answer.status_code == 503
    assert answer.json() == {"message": "Service Unavailable"}


@pytest.mark.parametrize("size", [7_000_000, 10 * 1024 * 1024 + 1])
def test_a_body_over_the_limit_is_413_with_cors_headers(running, size):
    answer = httpx.post(running.url + "/echo", content=b"x" * size, headers={"origin": ORIGIN}, timeout=30)
    assert answer.status_code == 413
    assert answer.json() == {"message": "Request Too Long"}
    assert answer.headers["access-control-allow-origin"] == ORIGIN


def test_headers_over_the_limit_are_431(running):
    answer = httpx.get(running.url + "/echo", headers={"x-long": "x" * 10_240})
    assert answer.status_code == 431


def test_head_gets_the_headers_of_an_answer_alone(running):
    address = urlsplit(running.url)
    with contextlib.closing(http.client.HTTPConnection(address.hostname, address.port, timeout=10)) as connection:
        connection.request("HEAD", "/echo?answer=plain")
        answer = connection.getresponse()
        assert answer.status == 200
        assert answer.headers["content-length"] == str(len('{"hello": "wörld"}'.encode()))
        assert answer.read() == b""


# Who may call


def private(running, token: str | None, path: str = "/private") -> httpx.Response:
    return httpx.get(running.url + path, headers={"authorization": f"Bearer {token}"} if token else {})


def test_a_good_token_passes_and_its_claims_arrive_as_text(running):
    token = running.mint(scope="things:read things:write", level=3, admin=True, groups=["a", "b"])
    claims = private(running, token).json()["requestContext"]["authorizer"]["jwt"]["claims"]
    assert claims["sub"] == "alice"
    assert claims["scope"] == "things:read things:write"
    assert claims["level"] == "3"
    assert claims["admin"] == "true"
    assert claims["groups"] == "[a b]"
    assert claims["exp"].isdigit()


def test_a_bad_token_is_unauthorized(running):
    good = running.mint()
    bad = {
        "none": None,
        "not a token": "abc",
        "expired": running.mint(expires_s=-5),
        "another audience": running.mint(audience="http://elsewhere/mcp"),
        "another issuer": running.mint(iss="http://evil.example"),
        "another signature": good[:-8] + ("AAAAAAAA" if not good.endswith("AAAAAAAA") else "BBBBBBBB"),
    }
    for why, token in bad.items():
        answer = private(running, token)
        assert answer.status_code == 401, why
        assert answer.json() == {"message": "Unauthorized"}
        assert answer.headers["www-authenticate"].startswith("Bearer")


def test_a_token_without_the_scope_is_forbidden(running):
    assert private(running, running.mint(), "/scoped").status_code == 200
    answer = private(running, running.mint(scope="other"), "/scoped")
    assert answer.status_code == 403
    assert answer.json() == {"message": "Forbidden"}


# Browsers of other origins


def preflight(running, path: str, origin: str) -> httpx.Response:
    asked = {
        "origin": origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,mcp-protocol-version",
    }
    return httpx.options(running.url + path, headers=asked)


def test_a_preflight_is_answered_by_the_gateway_without_a_token(running):
    answer = preflight(running, "/private", ORIGIN)
    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert answer.headers["access-control-allow-methods"] == "GET,POST"
    assert answer.headers["access-control-allow-headers"] == "authorization,content-type,mcp-protocol-version"
    assert answer.headers["access-control-max-age"] == "600"
    assert answer.headers["access-control-allow-credentials"] == "true"


def test_an_unknown_origin_gets_no_cors_headers(running):
    for answer in (
        preflight(running, "/private", "https://evil.example"),
        httpx.get(running.url + "/echo", headers={"origin": "https://evil.example"}),
    ):
        assert answer.status_code in {200, 204}
        assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_the_gateways_own_errors_carry_cors_headers_too(running):
    for path, status in (("/private", 401), ("/nowhere", 404), ("/echo?answer=nonsense", 500)):
        answer = httpx.get(running.url + path, headers={"origin": ORIGIN})
        assert answer.status_code == status
        assert answer.headers["access-control-allow-origin"] == ORIGIN
        assert answer.headers["access-control-expose-headers"] == "www-authenticate,retry-after"


def test_what_the_function_says_about_cors_is_dropped(running):
    answer = httpx.get(running.url + "/echo?answer=full", headers={"origin": ORIGIN})
    assert answer.headers.get_list("access-control-allow-origin") == [ORIGIN]
    assert "access-control-allow-origin" not in httpx.get(running.url + "/echo?answer=full").headers
