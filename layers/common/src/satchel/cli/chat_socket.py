"""Chats over the WebSocket API: text as it comes."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from satchel.cli.errors import CommandError

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

# The worker's own limit, and some.
_PATIENCE_S = 330.0
_TRIES = 3
_NOT_ALLOWED = (401, 403)


class NoSocketError(Exception):
    """There is no WebSocket API there."""


class ChatSocket:
    """One connection to the WebSocket API; opened when something is said, and again when it was lost.

    Args:
        url: Where it is (`wss://…/socket`).
        token: The user's.
    """

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._token = token
        self._open: ClientConnection | None = None

    def say(
        self, said: dict[str, Any], *, on_text: Callable[[str], None], on_tool: Callable[[str, str], None]
    ) -> dict[str, Any]:
        """The answer to a message, told piece by piece meanwhile.

        The message is sent again where the connection is lost: under its id it is the same turn.

        Args:
            said: The message, with its id.
            on_text: Gets pieces of text.
            on_tool: Gets the name of a tool that is called and how that goes.

        Raises:
            NoSocketError: Nothing serves WebSockets at the URL.
            CommandError: The turn failed, or nobody answers.
        """
        from websockets.exceptions import ConnectionClosed  # noqa: PLC0415 - only where somebody chats

        for _ in range(_TRIES):
            try:
                connection = self._connected()
                connection.send(json.dumps({"type": "sendMessage", **said}, ensure_ascii=False))
                return _until_done(connection, str(said["message_id"]), on_text, on_tool)
            except ConnectionClosed:
                self._open = None
            except TimeoutError as error:
                raise CommandError("The answer takes too long.") from error
        raise CommandError("The connection was lost; what you said is kept.")

    def close(self) -> None:
        """Hang up."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _connected(self) -> "ClientConnection":
        from websockets.exceptions import InvalidHandshake, InvalidStatus, InvalidURI  # noqa: PLC0415 - see above
        from websockets.sync.client import connect  # noqa: PLC0415 - see above

        if self._open is None:
            try:
                self._open = connect(self._url, additional_headers={"Authorization": f"Bearer {self._token}"})
            except InvalidStatus as error:
                if error.response.status_code in _NOT_ALLOWED:
                    raise CommandError("The server does not accept the token.") from error
                raise NoSocketError from error
            except (InvalidHandshake, InvalidURI, OSError, TimeoutError) as error:
                raise NoSocketError from error
        return self._open


def _until_done(
    connection: "ClientConnection", message_id: str, on_text: Callable[[str], None], on_tool: Callable[[str, str], None]
) -> dict[str, Any]:
    while True:
        frame = json.loads(connection.recv(timeout=_PATIENCE_S))
        # An answer that waited for us from before is in its conversation, and not what was asked now.
        if frame.get("message_id", message_id) != message_id:
            continue
        match frame.get("type"):
            case "text":
                on_text(frame["text"])
            case "tool":
                on_tool(frame["name"], frame["state"])
            case "done":
                return frame
            case "error":
                error = frame["error"]
                raise CommandError(f"{error['message']} ({error['code']})")
            case _:
                raise CommandError(str(frame.get("message", "The server sent something unknown.")))
