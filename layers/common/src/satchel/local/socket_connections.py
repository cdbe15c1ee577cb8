"""The open connections of the WebSocket API: what goes out on each, in order."""

import asyncio

STAGE = "socket"


class GoneError(Exception):
    """The connection is not open."""


class Connections:
    """Outboxes of open connections, by connection id; None in one ends it."""

    def __init__(self) -> None:
        self._outboxes: dict[str, asyncio.Queue[str | None]] = {}

    def open(self, connection_id: str) -> "asyncio.Queue[str | None]":
        """The outbox of a connection that opens now."""
        outbox = self._outboxes[connection_id] = asyncio.Queue()
        return outbox

    def forget(self, connection_id: str) -> None:
        """The connection has ended."""
        self._outboxes.pop(connection_id).put_nowait(None)

    def send(self, connection_id: str, text: str) -> None:
        """Send a frame.

        Raises:
            GoneError: The connection is not open.
        """
        if connection_id not in self._outboxes:
            raise GoneError
        self._outboxes[connection_id].put_nowait(text)
