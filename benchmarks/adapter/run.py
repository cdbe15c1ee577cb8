"""CPU of one `tools/call` in the MCP adapter, against the bare SDK and against other handlers.

usage: run.py [--rounds 7] [--repeat 200] [--json]

All do the same: take an HTTP API event, call a function whose answer is ready, return the response. The bare SDK is
its single-exchange kernel alone: JSON in, JSON out, and no HTTP rules, token, scopes, tool sets or deadline. Of the
others, fastmcp verifies the token as we do and awslabs does not. They are installed at pinned versions into `.cache`.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT), str(HERE)]

from work import (  # noqa: E402 - beside this script, and in the rivals' environment too
    ANSWER,
    ISSUER,
    NEW_HEADERS,
    OLD_HEADERS,
    RESOURCE,
    Context,
    check,
    cpu_us,
    event,
    message,
)

RIVALS = ("awslabs.mcp-lambda-handler==0.1.15", "fastmcp==4.2.3")
TARGET = 1.5
_IMPORT_RUNS = 5


class ReadyFunctions:
    """A function whose answer is ready."""

    def invoke(self, function: str, request: Any, *, timeout_s: float) -> dict[str, Any]:
        """The answer."""
        del function, request, timeout_s
        return {"structuredContent": ANSWER}


def adapter_handler(identity: Any) -> Any:
    """Our adapter, complete."""
    from satchel.api.auth import KeySet, TokenVerifier  # noqa: PLC0415
    from satchel.api.listing import catalogue  # noqa: PLC0415
    from satchel.api.mcp.adapter import McpAdapter  # noqa: PLC0415
    from satchel.api.mcp.admission import Admission  # noqa: PLC0415
    from satchel.api.mcp.endpoint import McpEndpoint  # noqa: PLC0415
    from satchel.api.mcp.server import build_server  # noqa: PLC0415

    listed = catalogue()
    functions = ReadyFunctions()
    server = build_server(listed, functions, version="1", request_state_keys=lambda: ("k" * 32,))
    adapter = McpAdapter(
        endpoint=McpEndpoint(server, listed),
        functions=functions,
        catalogue=listed,
        verifier=TokenVerifier(issuer=ISSUER, audiences=[RESOURCE], keys=KeySet(identity.jwks)),
        admission=Admission(),
        issuer=ISSUER,
    )
    context = Context()
    return lambda given: adapter.handle(given, context)


def bare_kernel() -> Any:
    """The SDK's server and single-exchange kernel as its documentation shows them, and JSON around it."""
    from mcp.server.connection import Connection  # noqa: PLC0415
    from mcp.server.lowlevel import Server  # noqa: PLC0415
    from mcp.server.runner import serve_one  # noqa: PLC0415
    from mcp.shared.inbound import classify_inbound_request  # noqa: PLC0415
    from mcp.shared.message import ServerMessageMetadata  # noqa: PLC0415
    from mcp.shared.transport_context import TransportContext  # noqa: PLC0415
    from mcp_types import CallToolResult, JSONRPCRequest, JSONRPCResponse, TextContent  # noqa: PLC0415

    from satchel.api.mcp.exchange import SingleExchange  # noqa: PLC0415

    functions = ReadyFunctions()

    async def call_tool(ctx: Any, params: Any) -> CallToolResult:
        del ctx
        structured = functions.invoke(params.name, params.arguments, timeout_s=25)["structuredContent"]
        text = json.dumps(structured, ensure_ascii=False)
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structured)

    server: Any = Server("benchmark", version="1", on_call_tool=call_tool)
    loop = asyncio.new_event_loop()

    async def serve(body: str, headers: dict[str, str], *, modern: bool) -> str:
        decoded = json.loads(body)
        request = JSONRPCRequest.model_validate(decoded)
        if modern:
            route: Any = classify_inbound_request(decoded, headers=headers)
            connection = Connection.from_envelope(route.protocol_version, route.client_info, route.client_capabilities)
        else:
            connection = Connection.from_envelope(headers["mcp-protocol-version"], None, None)
        exchange = SingleExchange(
            transport=TransportContext(kind="streamable-http", can_send_request=False),
            request_id=request.id,
            message_metadata=ServerMessageMetadata(),
            progress_token=None,
        )
        result = await serve_one(
            server, exchange, request.method, request.params, connection=connection, lifespan_state={}
        )
        reply = JSONRPCResponse(jsonrpc="2.0", id=request.id, result=result)
        return json.dumps(reply.model_dump(mode="json", by_alias=True, exclude_none=True), ensure_ascii=False)

    def handle(body: str, *, modern: bool) -> dict[str, Any]:
        headers = NEW_HEADERS if modern else OLD_HEADERS
        return {"statusCode": 200, "body": loop.run_until_complete(serve(body, headers, modern=modern))}

    return handle


def measure_ours(identity: Any, token: str, rounds: int, repeat: int) -> dict[str, float]:
    """Our adapter and the bare kernel, taking turns in this process."""
    adapter, kernel = adapter_handler(identity), bare_kernel()
    calls: dict[str, Any] = {}
    for era, modern in (("old", False), ("new", True)):
        given, body = event(token, modern=modern), json.dumps(message(modern=modern), ensure_ascii=False)
        check(adapter(given))
        check(kernel(body, modern=modern))
        calls[f"satchel {era}"] = lambda given=given: adapter(given)
        calls[f"kernel {era}"] = lambda body=body, modern=modern: kernel(body, modern=modern)
    return cpu_us(calls, rounds=rounds, repeat=repeat)


def measure_rivals(identity: Any, token: str, rounds: int, repeat: int) -> dict[str, Any]:
    """The others, in an environment of their own."""
    venv = ROOT / ".cache" / "benchmarks" / "adapter"
    if not (venv / "installed").exists():
        print("Installing", ", ".join(RIVALS), "(once) ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin" / "pip", "install", "--quiet", *RIVALS], check=True)
        (venv / "installed").touch()
    with tempfile.NamedTemporaryFile("wb", suffix=".pem") as file:
        file.write(identity.public_keys()[-1].public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
        file.flush()
        command = [venv / "bin" / "python", HERE / "rivals.py", file.name, token, str(rounds), str(repeat)]
        run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(run.stdout.splitlines()[-1])


def import_ms(module: str) -> float:
    """Milliseconds of CPU to import a handler in a fresh interpreter, its bytecode there; the median of five."""
    script = f"import time; t = time.process_time(); import {module}; print((time.process_time() - t) * 1000)"
    runs = [
        float(
            subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, cwd=ROOT).stdout
        )
        for _ in range(_IMPORT_RUNS)
    ]
    return statistics.median(runs)


def main() -> None:
    """Measure, print a table and a JSON line."""
    parser = argparse.ArgumentParser(description="CPU of the MCP adapter against others.")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--repeat", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="print the JSON line alone")
    options = parser.parse_args()
    from satchel.local.identity import Identity  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        identity = Identity(Path(folder), ISSUER)
        token = identity.mint("alice", audience=RESOURCE)
        import logging  # noqa: PLC0415

        logging.disable(logging.CRITICAL)  # everybody's log lines are somebody else's cost
        ours = measure_ours(identity, token, options.rounds, options.repeat)
        rivals = measure_rivals(identity, token, options.rounds, options.repeat)
    handlers = sorted(
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in (ROOT / "functions").glob("*/*.py")
        if path.name != "__init__.py"
    )
    result: dict[str, Any] = {
        "cpu_us": {name: round(value, 1) for name, value in {**ours, **rivals["cpu_us"]}.items()},
        "to_kernel": {era: round(ours[f"satchel {era}"] / ours[f"kernel {era}"], 2) for era in ("old", "new")},
        "target": TARGET,
        "import_ms": {module: round(import_ms(module), 1) for module in handlers},
        "rival_import_ms": {name: round(value, 1) for name, value in rivals["import_ms"].items()},
    }
    if not options.json:
        show(result)
    print(json.dumps(result))


def show(result: dict[str, Any]) -> None:
    """Print the table."""
    print(f"{'handler, era':<16}{'CPU us a call':>16}{'to the kernel':>16}")
    for name, value in result["cpu_us"].items():
        era = name.rsplit(" ", 1)[1]
        print(f"{name:<16}{value:>16.0f}{value / result['cpu_us'][f'kernel {era}']:>16.2f}")
    print(f"\n{'import of':<48}{'CPU ms':>10}")
    for name, value in {**result["import_ms"], **result["rival_import_ms"]}.items():
        print(f"{name:<48}{value:>10.0f}")


if __name__ == "__main__":
    main()
