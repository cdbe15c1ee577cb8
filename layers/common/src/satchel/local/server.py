"""One uvicorn server on several sockets, each with an application of its own."""

import asyncio
import contextlib
import socket
from collections.abc import Generator, Mapping

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send


class _Uvicorn(uvicorn.Server):
    """The stack, not the server, decides what a signal means."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


class PortInUseError(Exception):
    """Another program listens on the port; the message says which."""


def listen(port: int = 0, host: str = "127.0.0.1") -> socket.socket:
    """A listening socket; port 0 takes a free one.

    Raises:
        PortInUseError: The port is taken.
    """
    # The protocol is named because asyncio turns Nagle's algorithm off only on sockets that name it, and with it on,
    # headers and body sent apart wait for each other for 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(1024)
    except OSError as error:
        listener.close()
        raise PortInUseError(f"Port {port} on {host} is in use; choose another one with --port.") from error
    return listener


def address(listener: socket.socket) -> str:
    """`host:port` of a listening socket."""
    host, port = listener.getsockname()
    return f"{host}:{port}"


class Server:
    """Serves applications by the port a request came in on.

    Args:
        applications: Each socket's application.
    """

    def __init__(self, applications: Mapping[socket.socket, ASGIApp]) -> None:
        self._by_port = {listener.getsockname()[1]: app for listener, app in applications.items()}
        self._sockets = list(applications)
        config = uvicorn.Config(
            self._serve,
            interface="asgi3",
            proxy_headers=False,
            http="h11",
            ws="websockets-sansio",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=60,
            timeout_graceful_shutdown=1,
        )
        self._uvicorn = _Uvicorn(config)
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begins to serve."""
        self._task = asyncio.create_task(self._uvicorn.serve(sockets=self._sockets))
        while not self._uvicorn.started and not self._task.done():  # noqa: ASYNC110 - uvicorn offers a flag only
            await asyncio.sleep(0.01)

    async def stop(self) -> None:
        """Stops; requests that still run get a second."""
        self._uvicorn.should_exit = True
        if self._task is not None:
            await self._task

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._by_port[scope["server"][1]](scope, receive, send)
