"""Tells a connected client what happens during a turn, as it happens."""

from collections.abc import Callable
from typing import Any

from satchel.gateway.connections import GoneError

# A frame for every token would cost more than the model.
_FRAME_CHARS = 80


class SocketListener:
    """Sends text and tool events to one connection; once the client is gone it sends nothing more.

    Args:
        send: Sends a frame: its type and fields.
    """

    def __init__(self, send: Callable[..., None]) -> None:
        self._send = send
        self._waiting = ""
        self._gone = False

    def text(self, piece: str) -> None:
        """Send text, in frames of some length."""
        self._waiting += piece
        if len(self._waiting) >= _FRAME_CHARS:
            self.flush()

    def tool(self, name: str, state: str) -> None:
        """Send that a tool call begins or has ended."""
        self.flush()
        self._quietly("tool", name=name, state=state)

    def flush(self) -> None:
        """Send what text is left."""
        if self._waiting:
            self._quietly("text", text=self._waiting)
            self._waiting = ""

    def _quietly(self, kind: str, **fields: Any) -> None:
        if self._gone:
            return
        try:
            self._send(kind, **fields)
        except GoneError:
            self._gone = True
