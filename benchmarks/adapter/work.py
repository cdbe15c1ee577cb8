"""What every handler is measured on: one `tools/call`, the same function behind it, the same token."""

import gc
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

TOOL = "save_message"
ISSUER = "http://127.0.0.1:3000"
RESOURCE = f"{ISSUER}/mcp"
ARGUMENTS = {
    "role": "user",
    "content": "BTC/USDT crossed above 46,000: 이동평균 교차 전략을 다시 시험해 줘 📈",
    "session_id": "s-1",
}
ANSWER = {
    "message": {
        "message_id": "0b9c2c40-5a54-4f5d-9d43-8f6f1ad1d4f0",
        "session_id": "s-1",
        "role": "user",
        "content": ARGUMENTS["content"],
        "created_at": "2026-01-15T10:30:00Z",
        "metadata": {},
    },
    "duplicate": False,
}
_ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
OLD_HEADERS = {"mcp-protocol-version": "2025-06-18"}
NEW_HEADERS = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": TOOL}


def message(*, modern: bool) -> dict[str, Any]:
    """The call as a JSON-RPC request of either era."""
    params: dict[str, Any] = {"name": TOOL, "arguments": ARGUMENTS}
    if modern:
        params["_meta"] = _ENVELOPE
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def event(token: str, *, modern: bool) -> dict[str, Any]:
    """The call as an HTTP API event."""
    headers = {
        "host": "127.0.0.1:3000",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "authorization": f"Bearer {token}",
        **(NEW_HEADERS if modern else OLD_HEADERS),
    }
    return {
        "version": "2.0",
        "routeKey": "ANY /mcp",
        "rawPath": "/mcp",
        "rawQueryString": "",
        "headers": headers,
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "local",
            "domainName": "127.0.0.1:3000",
            "domainPrefix": "127",
            "http": {
                "method": "POST",
                "path": "/mcp",
                "protocol": "HTTP/1.1",
                "sourceIp": "127.0.0.1",
                "userAgent": "benchmark",
            },
            "requestId": "r",
            "routeKey": "ANY /mcp",
            "stage": "$default",
            "time": "15/Jan/2026:10:30:00 +0000",
            "timeEpoch": 1768473000000,
        },
        "body": json.dumps(message(modern=modern), ensure_ascii=False),
        "isBase64Encoded": False,
    }


class Context:
    """What the runtime passes beside the event."""

    aws_request_id = "r"
    function_name = "mcp_adapter"

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds left."""
        return 29_000


def check(response: dict[str, Any]) -> None:
    """Refuse to measure a handler that does not do the work."""
    if response["statusCode"] != 200:
        raise SystemExit(f"a handler answered {response['statusCode']}: {response['body'][:300]}")
    result = json.loads(response["body"])["result"]
    if ANSWER["message"]["message_id"] not in result["content"][0]["text"]:
        raise SystemExit(f"a handler answered something else: {response['body'][:300]}")


def cpu_us(calls: dict[str, Callable[[], Any]], *, rounds: int, repeat: int) -> dict[str, float]:
    """Microseconds of CPU for a call of each, all threads of the process counted.

    The candidates take turns, so that a busy machine slows all of them; each gets the median of its rounds.
    """
    for call in calls.values():
        for _ in range(repeat):
            call()
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            gc.collect()
            started = time.process_time()
            for _ in range(repeat):
                call()
            taken[name].append((time.process_time() - started) / repeat * 1e6)
    return {name: statistics.median(values) for name, values in taken.items()}
