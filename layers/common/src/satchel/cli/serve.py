"""`satchel serve`: the whole system on this machine, until Ctrl-C."""

import argparse
import asyncio
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from satchel.cli.errors import CommandError
from satchel.cli.options import DEFAULT_PORT, DEFAULT_USER, add_data
from satchel.local.cloudformation import TemplateError
from satchel.local.data_folder import DataFolder, DataFolderError
from satchel.local.embedded_postgres import PostgresError
from satchel.local.project import Project, ProjectError, find
from satchel.local.satchel_stack import Serving, serving
from satchel.local.server import PortInUseError

if TYPE_CHECKING:
    from satchel.cli.options import Commands

_MAX_PORT = 65_535


def add_commands(commands: "Commands") -> None:
    """Adds `serve`."""
    parser = commands.add_parser(
        "serve",
        help="serve everything on this machine",
        description="Serve the database, every function, HTTP and MCP on 127.0.0.1, until Ctrl-C. "
        "Progress and the functions' log (JSON lines) go to stderr; the URL, a token and Ready to stdout.",
    )
    parser.add_argument(
        "--port",
        type=_port,
        default=DEFAULT_PORT,
        help=f"TCP port to serve on; 0 takes a free one (default: {DEFAULT_PORT})",
    )
    add_data(parser)
    parser.add_argument(
        "--with-test-fixtures",
        action="store_true",
        help="also offer the tools, resources and prompts of the MCP conformance suite (from a checkout)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Serves until a signal ends it."""
    try:
        project = find()
        fixtures = project.fixtures() if arguments.with_test_fixtures else None
        asyncio.run(_serve(project, DataFolder(arguments.data), arguments.port, fixtures))
    except (DataFolderError, PortInUseError, PostgresError, ProjectError, TemplateError) as error:
        raise CommandError(str(error)) from error


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= _MAX_PORT):
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to {_MAX_PORT}")
    return int(text)


async def _serve(project: Project, data: DataFolder, port: int, fixtures: Path | None) -> None:
    stop = asyncio.Event()
    work = asyncio.create_task(_serve_until_cancelled(project, data, port, fixtures))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait([work, stopped], return_when=asyncio.FIRST_COMPLETED)
    if not work.done():
        work.cancel()  # it may still be starting; either way it cleans up behind itself
        print("Stopping ...", file=sys.stderr, flush=True)
    stopped.cancel()
    await asyncio.wait([work])
    if not work.cancelled():
        work.result()


async def _serve_until_cancelled(project: Project, data: DataFolder, port: int, fixtures: Path | None) -> None:
    def progress(step: str) -> None:
        print(step, file=sys.stderr, flush=True)

    async with serving(project, data, port=port, fixtures=fixtures, progress=progress) as running:
        print(_greeting(running), flush=True)
        # Cancelling is the one way out: with a second one, the cancellation would hit the cleaning up of the first.
        await asyncio.Event().wait()


def _greeting(running: Serving) -> str:
    token = running.identity.mint(DEFAULT_USER, audience=running.mcp_url)
    bearer = f"Authorization: Bearer {token}"
    message = '{"role": "user", "content": "I trade BTC/USDT on the 4h chart."}'
    save = f"curl {running.stack.url}/v1/tools/save_message -H 'Content-Type: application/json'"
    return "\n".join(
        [
            f"MCP: {running.mcp_url}",
            f"Token: {token}",
            f"Docs: {running.stack.url}/docs",
            "",
            f'claude mcp add --transport http satchel {running.mcp_url} --header "{bearer}"',
            f"{save} -H '{bearer}' -d '{message}'",
            "",
            "Ready",
        ]
    )
