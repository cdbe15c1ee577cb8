import base64
import json

import pytest

from satchel.api.gateway_request import gateway_request, host_name, is_loopback
from satchel.api.strict_json import parse_json
from satchel.errors import InvalidInputError

NOTE = {"note": "Grüße 😀"}
BODY = base64.b64encode(json.dumps(NOTE, ensure_ascii=False).encode()).decode()


def http_api(raw_path, stage, host):
    return {
        "version": "2.0",
        "rawPath": raw_path,
        "rawQueryString": "toolsets=default%2Cprofile",
        "headers": {"host": host, "x-forwarded-proto": "https"},
        "requestContext": {"http": {"method": "POST", "path": raw_path}, "stage": stage, "domainName": host},
        "isBase64Encoded": True,
        "body": BODY,
    }


def rest_api(path, context_path, host):
    return {
        "httpMethod": "POST",
        "path": path,
        "headers": {"Host": host, "X-Forwarded-Proto": "https"},
        "multiValueQueryStringParameters": {"toolsets": ["default,profile"]},
        "requestContext": {"path": context_path, "stage": "prod", "domainName": host, "requestId": "r"},
        "isBase64Encoded": True,
        "body": BODY,
    }


@pytest.mark.parametrize(
    ("event", "base_url"),
    [
        (
            http_api("/prod/mcp", "prod", "abc.execute-api.eu-west-1.amazonaws.com"),
            "https://abc.execute-api.eu-west-1.amazonaws.com/prod",
        ),
        (http_api("/mcp", "prod", "api.example.com"), "https://api.example.com"),
        (http_api("/mcp", "$default", "api.example.com"), "https://api.example.com"),
        (
            rest_api("/mcp", "/prod/mcp", "abc.execute-api.eu-west-1.amazonaws.com"),
            "https://abc.execute-api.eu-west-1.amazonaws.com/prod",
        ),
        (rest_api("/mcp", "/mcp", "api.example.com"), "https://api.example.com"),
    ],
)
def test_the_stage_is_part_of_the_url_and_never_of_the_path(event, base_url):
    request = gateway_request(event)
    assert (request.method, request.path, request.base_url) == ("POST", "/mcp", base_url)
    assert request.url == base_url + "/mcp"
    assert request.query_values("toolsets") == ["default,profile"]
    assert parse_json(request.body()) == NOTE


def test_a_path_that_only_begins_like_the_stage_keeps_its_name():
    assert gateway_request(http_api("/production/mcp", "prod", "h")).path == "/production/mcp"


def test_the_root_of_a_stage_is_the_root():
    assert gateway_request(http_api("/prod", "prod", "h")).path == "/"


def test_broken_base64_is_told():
    with pytest.raises(InvalidInputError, match="base64"):
        gateway_request(http_api("/mcp", "$default", "h") | {"body": "%%%"}).body()


def test_a_loopback_host_speaks_http_unless_told_otherwise():
    event = {"rawPath": "/mcp", "headers": {"host": "localhost:3000"}, "requestContext": {"http": {"method": "get"}}}
    request = gateway_request(event)
    assert (request.method, request.url) == ("GET", "http://localhost:3000/mcp")


def test_whitespace_around_header_values_is_no_part_of_them():
    event = {"headers": {"Mcp-Name": "  save_message "}, "requestContext": {"http": {"method": "POST"}}}
    assert gateway_request(event).headers["mcp-name"] == "save_message"


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:1", "LOCALHOST:3000", "127.0.0.1:80", "127.9.9.9", "[::1]:3000", "[::1]"]
)
def test_names_of_this_machine(host):
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "128.0.0.1",
        "a@localhost",
        "localhost/x",
        "[::2]:1",
        "localhost:x",
    ],
)
def test_names_that_only_look_like_this_machine(host):
    assert not is_loopback(host)


def test_the_name_of_a_host_has_no_port():
    assert host_name("API.Example.com:443") == "api.example.com"
