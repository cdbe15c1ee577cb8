"""One connected MCP client, kept open between the turns of a warm process."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any

from satchel.errors import UnavailableError

if TYPE_CHECKING:
    from mcp import Client

# Our own server speaks this revision and needs no handshake: connecting costs no round trip.
_REVISION = "2026-07-28"
_CONNECT_TIMEOUT_S = 5.0


class Link:
    """A client of one server, for one user.

    The SDK's client must be closed by the task that opened it, so a task of its own holds it open.

    Args:
        url: Where the server speaks MCP over HTTP.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._token = ""
        self._closing = asyncio.Event()
        self._holder: asyncio.Task[None] | None = None
        self._client: Client | None = None

    def authorise(self, token: str) -> None:
        """Send this bearer token from now on."""
        self._token = token

    async def client(self) -> "Client":
        """The connected client; connects when first asked, and again after the connection was lost.

        Raises:
            UnavailableError: The server does not answer.
        """
        if self._client is None or self._holder is None or self._holder.done():
            opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
            self._closing = asyncio.Event()
            self._holder = asyncio.create_task(self._hold(opened))
            self._client = await opened
        return self._client

    async def close(self) -> None:
        """Disconnect."""
        self._closing.set()
        if self._holder is not None:
            await asyncio.gather(self._holder, return_exceptions=True)
        self._client = None

    async def _hold(self, opened: "asyncio.Future[Client]") -> None:
        import httpx2  # noqa: PLC0415 - heavy, and only where a server is spoken to
        from mcp import Client  # noqa: PLC0415 - as above
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415 - as above

        from satchel.gateway.refusals import RefusalReader  # noqa: PLC0415 - imports both

        try:
            async with AsyncExitStack() as stack:
                http = await stack.enter_async_context(
                    RefusalReader(
                        auth=_bearer(lambda: self._token),
                        # The turn's own deadline ends a call; this ends a server that went silent.
                        timeout=httpx2.Timeout(60.0, connect=_CONNECT_TIMEOUT_S),
                        limits=httpx2.Limits(max_connections=16, keepalive_expiry=30.0),
                    )
                )
                transport = streamable_http_client(self._url, http_client=http)
                client = await stack.enter_async_context(Client(transport, mode=_REVISION))
                opened.set_result(client)
                await self._closing.wait()
        except Exception as error:  # noqa: BLE001 - whatever keeps a server from being reached, to whoever waits
            if not opened.done():
                failure = UnavailableError("the MCP server does not answer; try again")
                failure.__cause__ = error
                opened.set_exception(failure)
        finally:
            with suppress(asyncio.InvalidStateError):
                opened.cancel()


def _bearer(token: Callable[[], str]) -> Any:
    import httpx2  # noqa: PLC0415 - see above

    class Bearer(httpx2.Auth):
        def auth_flow(self, request: Any) -> Any:
            if value := token():
                request.headers["authorization"] = f"Bearer {value}"
            yield request

    return Bearer()
