"""Satchel itself on this machine: the embedded database, a local identity, and the stack of its template."""

import asyncio
import importlib
import os
import socket
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from starlette.types import ASGIApp

from satchel.local import object_front, template_reader
from satchel.local.authorizer import JwtVerifier
from satchel.local.data_folder import DataFolder, RunningStack
from satchel.local.embedded_postgres import EmbeddedPostgres, PostgresError
from satchel.local.identity import Identity
from satchel.local.log_stream import LogStream
from satchel.local.processes import reap_leftovers
from satchel.local.project import Project
from satchel.local.secret_file import secret_in
from satchel.local.server import address, listen
from satchel.local.stack import Stack, StackOptions
from satchel.local.template import Application
from satchel.local.token_exchange import TokenEndpoint, gateway_key
from satchel.objects.files import FileObjects

STACK_NAME = "satchel"
_DATABASE = "satchel"
_APP_ROLE = "satchel_app"
# What a newcomer calls: these start while the database does.
CALLED_FIRST = ("McpAdapterFunction", "SaveMessageFunction", "SearchConversationFunction")
# Variables of the template that name what only a deployment has; and an endpoint rule that a local endpoint breaks.
_DEPLOYMENT_ONLY = frozenset(
    {
        "AWS_USE_DUALSTACK_ENDPOINT",
        "SATCHEL_DATABASE_ADMIN_SECRET",
        "SATCHEL_DATABASE_SECRET",
        "SATCHEL_GATEWAY_SECRET",
        "SATCHEL_OBJECTS_BUCKET",
        "SATCHEL_SOCKET_URL",
        "SATCHEL_REQUEST_STATE_SECRET",
    }
)
# Choices that are the developer's also on a laptop; all else comes from the template.
_FROM_DEVELOPER = (
    "ANTHROPIC_",
    "SATCHEL_ENCODER",
    "SATCHEL_LLM",
    "SATCHEL_AGENT_",
    "SATCHEL_TELEGRAM_",
    "SATCHEL_ALLOWED_",
    "SATCHEL_FILTER_",
    "SATCHEL_UPSTREAMS",
    "SATCHEL_SANDBOX",
    "SATCHEL_LIVE_KEY_FILE",
)


@dataclass(frozen=True)
class Serving:
    """A running Satchel."""

    stack: Stack
    identity: Identity
    postgres: EmbeddedPostgres

    @property
    def mcp_url(self) -> str:
        """What an MCP client is given; also the audience of its token."""
        return f"{self.stack.url}/mcp"


def clock() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


def read_application(project: Project, url: str) -> Application:
    """Satchel's template, for an installation at a URL."""
    parameters = {
        "Issuer": url,
        "JwksUrl": f"{url}/.well-known/jwks.json",
        "ResourceUrl": f"{url}/mcp",
        "TokenUrl": f"{url}/token",
        # A live account is registered here as in the cloud, by all of these; its key is in SATCHEL_LIVE_KEY_FILE.
        "LiveExchange": os.environ.get("SATCHEL_LIVE_EXCHANGE", ""),
        "LiveOwner": os.environ.get("SATCHEL_LIVE_OWNER", ""),
        "LiveMaxOrder": os.environ.get("SATCHEL_LIVE_MAX_ORDER", ""),
    }
    return template_reader.read(project.template, stack_name=STACK_NAME, parameters=parameters)


@asynccontextmanager
async def serving(
    project: Project,
    data: DataFolder,
    *,
    port: int,
    fixtures: Path | None = None,
    reload: bool = True,
    called_first: Sequence[str] = CALLED_FIRST,
    progress: Callable[[str], None] = lambda _step: None,
    log_sink: TextIO = sys.stderr,
) -> AsyncGenerator[Serving, None]:
    """Serves Satchel on 127.0.0.1 while the context lasts, and leaves nothing running after it.

    Args:
        project: The checkout to serve from.
        data: The folder that holds everything; locked meanwhile.
        port: Where to serve; 0 takes a free one.
        fixtures: The conformance fixtures, to offer them beside the catalogue.
        reload: Whether changed code replaces the workers.
        called_first: Logical ids of functions that start while the database does.
        progress: Gets a line before each step that takes time.
        log_sink: Where the log stream goes.

    Raises:
        PortInUseError: Another program listens there.
        DataFolderError: Another server has the folder, or it cannot be written to.
        PostgresError: The database does not start, or is of a newer release.
    """
    front = listen(port)
    try:
        data.lock()
        reap_leftovers(data.path)
        logs = LogStream(log_sink, clock)
        postgres = EmbeddedPostgres(data.path, logs)
        # It mostly waits for the disk; what takes the processor is imported and started meanwhile.
        database = asyncio.create_task(_start_database(postgres, progress))
        try:
            await asyncio.to_thread(importlib.import_module, "satchel.local.authorization_server")
            with _model() as model:
                options = StackOptions(
                    overrides={
                        **_overrides(project, data, postgres, fixtures),
                        **_objects_overrides(data.path, _url(front)),
                        **model,
                    },
                    removed=_DEPLOYMENT_ONLY,
                    machine=os.environ,
                    reload=reload,
                    called_first=called_first,
                    health_path="/healthz",
                )
                async with _stack(project, data, front, logs, options=options, after=database) as (stack, identity):
                    yield Serving(stack, identity, postgres)
        finally:
            database.cancel()
            await asyncio.wait([database])
            await postgres.stop()
    finally:
        data.release()
        front.close()


@asynccontextmanager
async def _stack(
    project: Project,
    data: DataFolder,
    front: socket.socket,
    logs: LogStream,
    *,
    options: StackOptions,
    after: Awaitable[None],
) -> AsyncGenerator[tuple[Stack, Identity], None]:
    url = _url(front)
    identity = Identity(data.path, url)
    stack = Stack(
        read_application(project, url),
        owner=data.path,
        front=front,
        verifier=JwtVerifier(identity.jwks),
        logs=logs,
        clock=clock,
        options=options,
        own={
            **_sign_in(identity, f"{url}/mcp", gateway_key(data.path)),
            object_front.PATH: object_front.build(_objects(data.path, url)),
        },
    )
    try:
        await stack.start(after=after)
        data.publish(RunningStack(os.getpid(), url, stack.invoke_url, stack.access_key))
        yield stack, identity
    finally:
        await stack.stop()


@contextmanager
def _model() -> Generator[dict[str, str]]:
    """The variables that give chats a model: the developer's own, or a script where there is no key."""
    chosen = os.environ.get("SATCHEL_AGENT_LLM") or "anthropic"
    if chosen != "anthropic" or os.environ.get("ANTHROPIC_API_KEY"):
        yield {"SATCHEL_AGENT_LLM": chosen}
        return
    from satchel.local.fake_claude.assistant import scripted_assistant  # noqa: PLC0415 - only without a key
    from satchel.local.fake_claude.server import FakeClaude  # noqa: PLC0415

    with FakeClaude(scripted_assistant) as claude:
        yield {
            "SATCHEL_AGENT_LLM": chosen,
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_BASE_URL": claude.url,
        }


def _sign_in(identity: Identity, resource_url: str, key: str) -> dict[str, ASGIApp]:
    """The development authorization server, by path."""
    from satchel.local import authorization_server  # noqa: PLC0415 - a heavy import, made ready beforehand

    server = authorization_server.build(identity, [resource_url])
    token = TokenEndpoint(identity, key=key, audience=resource_url, others=server)
    return {**dict.fromkeys(authorization_server.PATHS, server), "/token": token}


async def _start_database(postgres: EmbeddedPostgres, progress: Callable[[str], None]) -> None:
    from satchel.postgres.migrate import MigrationError, migrate  # noqa: PLC0415 - a heavy client

    progress("Starting the database ...")
    await postgres.start()
    progress("Bringing the database to the current schema ...")
    await postgres.create_database(_DATABASE)
    try:
        await asyncio.to_thread(migrate, postgres.dsn(_DATABASE))
    except MigrationError as error:
        raise PostgresError(f"The database does not fit this release: {error}.") from error


def _overrides(project: Project, data: DataFolder, postgres: EmbeddedPostgres, fixtures: Path | None) -> dict[str, str]:
    chosen = {name: value for name, value in os.environ.items() if name.startswith(_FROM_DEVELOPER)}
    return {
        **chosen,
        "SATCHEL_DATABASE_URL": postgres.dsn(_DATABASE, user=_APP_ROLE),
        "SATCHEL_MODEL_DIR": str(project.models),
        "SATCHEL_REQUEST_STATE_KEYS": secret_in(data.path / "request_state.key"),
        "SATCHEL_GATEWAY_KEY": gateway_key(data.path),
        "SATCHEL_TEST_FIXTURES": str(fixtures) if fixtures else "",
    }


def _objects(data: Path, url: str) -> FileObjects:
    """What is too large for a request: files of the data folder."""
    given = _objects_overrides(data, url)
    objects = FileObjects(
        Path(given["SATCHEL_OBJECTS_FOLDER"]),
        url=given["SATCHEL_OBJECTS_URL"],
        secret=given["SATCHEL_OBJECTS_KEY"],
        clock=clock,
    )
    objects.forget_old()
    return objects


def _objects_overrides(data: Path, url: str) -> dict[str, str]:
    return {
        "SATCHEL_OBJECTS_FOLDER": str(data / "objects"),
        "SATCHEL_OBJECTS_URL": f"{url}{object_front.PATH}",
        "SATCHEL_OBJECTS_KEY": secret_in(data / "objects.key"),
    }


def _url(front: socket.socket) -> str:
    return f"http://{address(front)}"
