"""Brings the answer of a turn to the user's socket."""

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from satchel.agent.ports import Listener, Silence
from satchel.agent.turn import Answer
from satchel.errors import SatchelError
from satchel.gateway.connections import GoneError
from satchel.gateway.socket_listener import SocketListener


class Delivery:
    """The way of one turn's answer.

    Args:
        places: The connections to try, best first.
        send: Sends a frame: connection, type, fields.
        tell: Makes the fields of the last frame from the answer.
        fail: Makes the fields of an error's frame.
        delivered: Notes that the answer has arrived.
    """

    def __init__(
        self,
        places: list[str],
        *,
        send: Callable[..., None],
        tell: Callable[[Answer], dict[str, Any]],
        fail: Callable[[SatchelError], dict[str, Any]],
        delivered: Callable[[], None],
    ) -> None:
        self._places = places
        self._send = send
        self._tell = tell
        self._fail = fail
        self._delivered = delivered
        self._socket = SocketListener(partial(send, places[0])) if places else None

    @classmethod
    def nowhere(cls) -> "Delivery":
        """Nobody waits on a socket."""
        return cls([], send=_nothing, tell=lambda _answer: {}, fail=lambda _error: {}, delivered=_nothing)

    @property
    def listener(self) -> Listener:
        """Who is told what happens meanwhile."""
        return self._socket or Silence()

    def deliver(self, answer: Answer) -> None:
        """Send the answer to the first place that is still there; nobody there leaves it for the next connection."""
        if self._socket:
            self._socket.flush()
        if self._anywhere("done", **self._tell(answer)):
            self._delivered()

    @contextmanager
    def of_failure(self) -> Generator[None]:
        """Send what goes wrong inside, and let it go on going wrong."""
        try:
            yield
        except SatchelError as error:
            self._anywhere("error", **self._fail(error))
            raise

    def _anywhere(self, kind: str, **fields: Any) -> bool:
        for place in self._places:
            with suppress(GoneError):
                self._send(place, kind, **fields)
                return True
        return False


def _nothing(*_values: Any, **_fields: Any) -> None:
    pass
