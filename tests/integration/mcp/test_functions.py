"""The Invoke API through the real boto3, against a server that answers as Lambda does."""

import json
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

import pytest

from satchel.api.mcp.functions import LambdaFunctions
from satchel.errors import DeadlineError, TooLargeError, UnavailableError
from tests.support.http_server import http_server


@contextmanager
def lambda_api(answer):
    """Serve `answer(path, payload) -> (status, headers, body)` as the Invoke API."""

    class Api(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            payload = self.rfile.read(int(self.headers["content-length"]))
            status, headers, body = answer(self.path, payload)
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    with http_server(Api) as url:
        yield url


@pytest.fixture
def invoke(monkeypatch):
    def call(endpoint, request=None, **options):
        for name, value in {
            "AWS_ENDPOINT_URL_LAMBDA": endpoint,
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
            "AWS_DEFAULT_REGION": "eu-west-1",
        }.items():
            monkeypatch.setenv(name, value)
        return LambdaFunctions("satchel").invoke("save_message", request or {"tool": "save_message"}, **options)

    return call


def ok(value):
    return lambda _path, _payload: (200, {}, json.dumps(value).encode())


def failed(error_type, message):
    body = json.dumps({"errorType": error_type, "errorMessage": message, "stackTrace": []}).encode()
    return lambda _path, _payload: (200, {"X-Amz-Function-Error": "Unhandled"}, body)


def refused(status, code):
    body = json.dumps({"Type": "User", "message": "no"}).encode()
    return lambda _path, _payload: (status, {"x-amzn-errortype": code}, body)


def test_the_function_of_the_stack_is_called_with_the_request(invoke):
    seen = []

    def answer(path, payload):
        seen.append((path, json.loads(payload)))
        return 200, {}, json.dumps({"structuredContent": {"text": "안녕 😀"}}, ensure_ascii=False).encode()

    with lambda_api(answer) as endpoint:
        assert invoke(endpoint, {"arguments": {"content": "안녕"}}) == {"structuredContent": {"text": "안녕 😀"}}
    assert seen == [("/2015-03-31/functions/satchel-save_message/invocations", {"arguments": {"content": "안녕"}})]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (failed("ValueError", "secret content"), UnavailableError),
        (failed("Runtime.ExitError", "RequestId: x Error: Runtime exited"), UnavailableError),
        (failed("Sandbox.Timedout", "x Task timed out after 3.00 seconds"), DeadlineError),
        (failed("Unhandled", "2026-01-01 x Task timed out after 3.00 seconds"), DeadlineError),
        (failed("Function.ResponseSizeTooLarge", "Response payload size exceeded"), TooLargeError),
        (refused(429, "TooManyRequestsException"), UnavailableError),
        (refused(404, "ResourceNotFoundException"), UnavailableError),
        (refused(500, "ServiceException"), UnavailableError),
        (refused(503, "ServiceUnavailableException"), UnavailableError),
        (refused(413, "RequestTooLargeException"), TooLargeError),
        (ok([1, 2]), UnavailableError),
        (ok(None), UnavailableError),
        (lambda _path, _payload: (200, {}, b"not json"), UnavailableError),
    ],
)
def test_whatever_goes_wrong_has_one_clear_meaning_and_passes_no_content_on(invoke, answer, error):
    calls = []

    def counted(path, payload):
        calls.append(path)
        return answer(path, payload)

    with lambda_api(counted) as endpoint, pytest.raises(error) as caught:
        invoke(endpoint)
    assert "secret" not in caught.value.message
    assert len(calls) == 1  # nothing is tried twice


def test_a_function_that_nobody_serves_is_unavailable(invoke):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        with pytest.raises(UnavailableError):
            invoke(f"http://127.0.0.1:{closed.getsockname()[1]}")


def test_a_function_that_takes_too_long_is_a_timeout(invoke):
    asked, release = threading.Event(), threading.Event()

    def answer(_path, _payload):
        asked.set()
        release.wait(20)
        return 200, {}, b"{}"

    with lambda_api(answer) as endpoint:
        try:
            with pytest.raises(DeadlineError, match="within 1 s"):
                invoke(endpoint, timeout_s=1.9)
        finally:
            release.set()
    assert asked.is_set()


def test_with_no_time_left_nothing_is_called(invoke):
    calls = []

    def answer(path, _payload):
        calls.append(path)
        return 200, {}, b"{}"

    with lambda_api(answer) as endpoint, pytest.raises(DeadlineError, match="no time is left"):
        invoke(endpoint, timeout_s=0.9)
    assert calls == []
