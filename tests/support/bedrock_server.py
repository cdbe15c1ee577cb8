"""A small Amazon Bedrock: takes what the SDK sends there and streams a text in AWS's event framing."""

import base64
import json
import struct
import threading
from binascii import crc32
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from satchel.local.fake_claude.streaming import events


def _frame(payload: bytes) -> bytes:
    """https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html."""
    names = {":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"}
    headers = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for name, value in names.items()
    )
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    whole = prelude + struct.pack(">I", crc32(prelude)) + headers + payload
    return whole + struct.pack(">I", crc32(whole))


@contextmanager
def bedrock_server(text: str) -> Iterator[tuple[str, list[tuple[str, dict[str, str], Any]]]]:
    """Its URL, and the requests so far: path, headers and body of each."""
    received: list[tuple[str, dict[str, str], Any]] = []
    message = {
        "id": "msg_bedrock_1", "type": "message", "role": "assistant", "model": "claude",
        "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }  # fmt: skip

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            received.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(200)
            self.send_header("content-type", "application/vnd.amazon.eventstream")
            self.end_headers()
            for event in events(message):
                data = event.decode().split("data: ", 1)[1].strip()
                chunk = {"bytes": base64.b64encode(data.encode()).decode()}
                self.wfile.write(_frame(json.dumps(chunk).encode()))

        def log_message(self, *_args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", received
    finally:
        server.shutdown()
        server.server_close()
