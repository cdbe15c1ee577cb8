"""A small HTTP server that hands requests to a handler as API Gateway events: the adapter's neighbour in tests."""

import base64
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

from tests.support.http_server import http_server

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]


class Context:
    """What the runtime passes beside the event."""

    def __init__(self, remaining_ms: int = 29_000) -> None:
        self.aws_request_id = str(uuid.uuid4())
        self._remaining_ms = remaining_ms

    def get_remaining_time_in_millis(self) -> int:
        return self._remaining_ms


def http_event(
    method: str, path: str, *, query: str = "", headers: dict[str, str] | None = None, body: bytes = b""
) -> dict[str, Any]:
    """An HTTP API event, payload format 2.0."""
    given = {name.lower(): value for name, value in (headers or {}).items()}
    event: dict[str, Any] = {
        "version": "2.0",
        "rawPath": path,
        "rawQueryString": query,
        "headers": {"host": "127.0.0.1:3000", **given},
        "requestContext": {
            "http": {"method": method, "path": path},
            "stage": "$default",
            "requestId": "request-1",
            "domainName": given.get("host", "127.0.0.1:3000"),
        },
        "isBase64Encoded": False,
    }
    if body:
        try:
            event["body"] = body.decode()
        except UnicodeDecodeError:
            event["body"] = base64.b64encode(body).decode()
            event["isBase64Encoded"] = True
    return event


@contextmanager
def serving(handler: Handler, *, port: int = 0) -> Iterator[str]:
    """Serve `handler`, one request at a time as Lambda does, and yield the base URL."""
    turn = threading.Lock()

    class Front(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            event = http_event(
                self.command, parts.path, query=parts.query, headers=dict(self.headers.items()), body=body
            )
            with turn:
                answer = handler(event, Context())
            data = answer["body"].encode()
            self.send_response(answer["statusCode"])
            for name, value in answer["headers"].items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_DELETE = do_OPTIONS = do_HEAD = _answer  # noqa: N815

        def log_message(self, *args: object) -> None:
            pass

    with http_server(Front, port) as url:
        yield url
