"""Measures other people's handlers, in the environment that `run.py` makes for them. Prints one JSON object.

usage: rivals.py PUBLIC_KEY_PEM_FILE TOKEN ROUNDS REPEAT
"""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from work import ANSWER, ISSUER, RESOURCE, Context, check, cpu_us, event


def function(role: str, content: str, session_id: str) -> dict[str, Any]:
    """The function behind the tool; its answer is ready."""
    del role, content, session_id
    return ANSWER


def awslabs_handler() -> Any:
    """`awslabs.mcp-lambda-handler`: handshake era only, no authorization."""
    from awslabs.mcp_lambda_handler import MCPLambdaHandler  # noqa: PLC0415

    handler = MCPLambdaHandler(name="benchmark", version="1")

    @handler.tool()
    def save_message(role: str, content: str, session_id: str) -> str:
        """Save a message."""
        return json.dumps(function(role, content, session_id), ensure_ascii=False)

    return lambda given: handler.handle_request(given, Context())


def fastmcp_handler(public_key: str) -> Any:
    """`fastmcp`, stateless, with its JWT verifier.

    Its application is driven straight over ASGI on a loop that stays, which is less than what Mangum does.
    """
    from fastmcp import FastMCP  # noqa: PLC0415
    from fastmcp.server.auth.providers.jwt import JWTVerifier  # noqa: PLC0415

    verifier = JWTVerifier(public_key=public_key, issuer=ISSUER, audience=RESOURCE, algorithm="ES256")
    server = FastMCP("benchmark", auth=verifier)

    @server.tool
    def save_message(role: str, content: str, session_id: str) -> dict[str, Any]:
        """Save a message."""
        return function(role, content, session_id)

    app = server.http_app(path="/mcp", stateless_http=True, json_response=True)
    loop = asyncio.new_event_loop()
    entered = asyncio.Event()

    async def keep() -> None:
        async with app.lifespan(app):
            entered.set()
            await asyncio.Event().wait()

    keeper = loop.create_task(keep())
    loop.run_until_complete(entered.wait())
    return lambda given, _keeper=keeper: loop.run_until_complete(_over_asgi(app, given))


async def _over_asgi(app: Any, given: dict[str, Any]) -> dict[str, Any]:
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": given["rawPath"],
        "raw_path": given["rawPath"].encode(),
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in given["headers"].items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 3000),
    }
    sent = [{"type": "http.request", "body": given["body"].encode(), "more_body": False}]
    got: dict[str, Any] = {"status": 0, "body": b""}

    async def receive() -> dict[str, Any]:
        if sent:
            return sent.pop()
        await asyncio.Event().wait()
        raise AssertionError

    async def send(part: dict[str, Any]) -> None:
        got["status"] = part.get("status", got["status"])
        got["body"] += part.get("body", b"")

    await app(scope, receive, send)
    return {"statusCode": got["status"], "body": got["body"].decode()}


def main() -> None:
    """Measure both."""
    key_file, token, rounds, repeat = sys.argv[1:]
    started = time.process_time()
    awslabs = awslabs_handler()
    awslabs_import_ms = (time.process_time() - started) * 1000
    started = time.process_time()
    fastmcp = fastmcp_handler(Path(key_file).read_text())
    fastmcp_import_ms = (time.process_time() - started) * 1000
    old, new = event(token, modern=False), event(token, modern=True)
    check(awslabs(old))
    check(fastmcp(old))
    check(fastmcp(new))
    measured = cpu_us(
        {
            "awslabs old": lambda: awslabs(old),
            "fastmcp old": lambda: fastmcp(old),
            "fastmcp new": lambda: fastmcp(new),
        },
        rounds=int(rounds),
        repeat=int(repeat),
    )
    imports = {"awslabs": awslabs_import_ms, "fastmcp": fastmcp_import_ms}
    print(json.dumps({"cpu_us": measured, "import_ms": imports}))


if __name__ == "__main__":
    main()
