"""An HTTP server on this machine that speaks Anthropic's Messages API from a script.

It stands in for the service where the real SDK must be exercised without one: tests, demonstrations, benchmarks.

    with FakeClaude(in_turn(fails(529), says_json({"answer": 42}))) as claude:
        client = anthropic.Anthropic(base_url=claude.url, api_key="any")
"""

import json
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from threading import Lock, Thread
from typing import Any, Self

from satchel.local.fake_claude.prompt_cache import PromptCache
from satchel.local.fake_claude.request_rules import refusal_of
from satchel.local.fake_claude.script import Reply, Script
from satchel.local.fake_claude.streaming import broken, events
from satchel.local.fake_claude.thinking import signed

_PATH = "/v1/messages"
_JSON = "application/json"
_STREAM = "text/event-stream; charset=utf-8"
_MOST_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True)
class Received:
    """A request as it came in: its headers in lower case, and its JSON body."""

    headers: dict[str, str]
    body: Any


class FakeClaude:
    """The server; listens on a free port of 127.0.0.1 between `__enter__` and `__exit__`.

    Args:
        script: Chooses the reply to each request that the API would not refuse.
    """

    def __init__(self, script: Script) -> None:
        self._script = script
        self._received: list[Received] = []
        self._lock = Lock()
        self._cache = PromptCache()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        """The base URL, for `ANTHROPIC_BASE_URL`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def received(self) -> list[Received]:
        """The requests so far, in order of arrival, refused ones included."""
        with self._lock:
            return list(self._received)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, headers: dict[str, str], raw: bytes) -> tuple[Reply, Any, int]:
        """The reply to a request, its body, and its number."""
        if len(raw) > _MOST_BYTES:
            too_large = ("request_too_large", "Request exceeds the maximum size")
            return Reply(status=413, error=too_large), None, self._count(headers, None)
        try:
            body: Any = json.loads(raw)
        except ValueError:
            body = None
        number = self._count(headers, body)
        if not headers.get("x-api-key") and not headers.get("authorization"):
            return Reply(status=401, error=("authentication_error", "x-api-key header is required")), body, number
        if "anthropic-version" not in headers:
            return (
                Reply(status=400, error=("invalid_request_error", "anthropic-version: header is required")),
                body,
                number,
            )
        refusal = refusal_of(body)
        if refusal:
            return Reply(status=400, error=("invalid_request_error", refusal)), body, number
        return self._script(body), body, number

    def _count(self, headers: dict[str, str], body: Any) -> int:
        with self._lock:
            self._received.append(Received(headers, body))
            return len(self._received)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        answer, cache = self._answer, self._cache

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("content-length", "0")))
                if self.path.partition("?")[0] != _PATH:
                    self._send(Reply(status=404, error=("not_found_error", "no such path")), None, 0)
                    return
                headers = {name.lower(): value for name, value in self.headers.items()}
                reply, body, number = answer(headers, raw)
                try:
                    self._send(reply, body, number)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True  # the client did not wait, which is what a slow script is for

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
                """Say nothing: requests are in `FakeClaude.received`."""

            def _send(self, reply: Reply, body: Any, number: int) -> None:
                if reply.delay_s:
                    time.sleep(reply.delay_s)
                pieces, kind = _payload(reply, body, number, cache)
                streams = kind == _STREAM
                self.send_response(reply.status)
                self.send_header("content-type", kind)
                self.send_header("request-id", _request_id(number))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if streams:
                    self.send_header("transfer-encoding", "chunked")
                else:
                    self.send_header("content-length", str(sum(map(len, pieces))))
                self.end_headers()
                _transfer(self.wfile, pieces, reply, chunked=streams)
                self.close_connection = self.close_connection or reply.hangs_up

        return Handler


def _payload(reply: Reply, body: Any, number: int, cache: PromptCache) -> tuple[list[bytes], str]:
    """What is sent, in the pieces that it is sent in, and its media type."""
    if reply.raw is not None:
        return [reply.raw], _JSON
    if reply.status >= 400:  # noqa: PLR2004 - HTTP's errors
        return [json.dumps(_error(reply.error, number), ensure_ascii=False).encode()], _JSON
    counted = cache.usage(body) if reply.input_tokens is None else {"input_tokens": reply.input_tokens}
    value: dict[str, Any] = {
        "id": f"msg_fake_{number}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": signed(body, reply.content),
        "stop_reason": reply.stop_reason,
        "stop_sequence": None,
        "usage": {**counted, "output_tokens": reply.output_tokens},
    }
    if body.get("stream"):
        pieces = list(events(value))
        return broken(pieces, _error(reply.breaks_with, number)) if reply.breaks_with else pieces, _STREAM
    return [json.dumps(value, ensure_ascii=False).encode()], _JSON


def _transfer(to: BufferedIOBase, pieces: list[bytes], reply: Reply, *, chunked: bool) -> None:
    """Send the body at the reply's pace, or half of it."""
    if reply.hangs_up:
        whole = b"".join(pieces)
        pieces = [whole[: len(whole) // 2]]
    for piece in pieces:
        time.sleep(reply.pace_s)
        to.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
    if chunked and not reply.hangs_up:
        to.write(b"0\r\n\r\n")


def _error(error: tuple[str, str], number: int) -> dict[str, Any]:
    """https://platform.claude.com/docs/en/api/errors."""
    kind, message = error
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": _request_id(number)}


def _request_id(number: int) -> str:
    return f"req_fake_{number}"
