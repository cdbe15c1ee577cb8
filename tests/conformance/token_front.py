"""A loopback server that adds a bearer token to what it passes on: the conformance suite cannot send one."""

import http.client
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

from tests.support.http_server import http_server

_TIMEOUT_S = 60
_OF_ONE_HOP = frozenset({"connection", "content-length", "transfer-encoding", "date", "server"})


@contextmanager
def passing_on(target: str, token: str) -> Iterator[str]:
    """Pass requests on to `target`, a base URL, and yield our own base URL."""
    upstream = urlsplit(target)

    class Front(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def relay(self):
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name: value for name, value in self.headers.items() if name.lower() not in _OF_ONE_HOP}
            connection = http.client.HTTPConnection(upstream.hostname, upstream.port, timeout=_TIMEOUT_S)
            connection.request(self.command, self.path, body or None, {"Authorization": f"Bearer {token}", **headers})
            answer = connection.getresponse()
            data = answer.read()
            connection.close()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in _OF_ONE_HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_DELETE = do_OPTIONS = do_HEAD = do_PATCH = relay  # noqa: N815

        def log_message(self, *args):
            pass

        def handle(self):
            try:
                super().handle()
            except ConnectionError:  # the suite hangs up on streams it has seen enough of
                self.close_connection = True

    with http_server(Front) as url:
        yield url
