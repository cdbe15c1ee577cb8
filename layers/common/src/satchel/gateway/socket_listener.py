"""Tells a connected client what happens during a turn, as it happens."""

import time
from collections.abc import Callable
from typing import Any

from satchel.gateway.connections import GoneError

# A frame for every token would cost more than the model; nobody should wait for the next one either.
_FRAME_CHARS = 80
_WAIT_S = 0.3


class SocketListener:
    """Sends text and tool events to one connection; once the client is gone it sends nothing more.

    Args:
        send: Sends a frame: its type and fields.
        clock: Seconds, from anywhere.
    """

    def __init__(self, send: Callable[..., None], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._send = send
        self._clock = clock
        self._sent_at = 0.0
        self._waiting = ""
        self._gone = False

    def text(self, piece: str) -> None:
        """Send text, in frames of some length or age."""
        self._waiting += piece
        if len(self._waiting) >= _FRAME_CHARS or self._clock() - self._sent_at >= _WAIT_S:
            self.flush()

    def tool(self, name: str, state: str) -> None:
        """Send that a tool call begins or has ended."""
        self.flush()
        self._quietly("tool", name=name, state=state)

    def flush(self) -> None:
        """Send what text is left."""
        if self._waiting:
            self._quietly("text", text=self._waiting)
            self._sent_at = self._clock()
            self._waiting = ""

    def _quietly(self, kind: str, **fields: Any) -> None:
        if self._gone:
            return
        try:
            self._send(kind, **fields)
        except GoneError:
            self._gone = True
