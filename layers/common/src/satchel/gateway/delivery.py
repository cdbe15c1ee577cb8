"""Brings the answer of a turn to the user's socket."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from satchel.agent.answer import Answer
from satchel.agent.ports import Listener, Silence
from satchel.errors import SatchelError
from satchel.gateway.connections import GoneError
from satchel.gateway.socket_listener import SocketListener

# Before each try.
_PAUSES_S = (0.0, 0.5, 1.5)


class Delivery:
    """The way of one turn's answer.

    Args:
        place: The connection that asked; None where nobody did.
        others: The user's connections as they are now, best first.
        send: Sends a frame: connection, type, fields.
        tell: Makes the fields of the last frame from the answer.
        fail: Makes the fields of an error's frame.
        claim: Whether the answer is ours to deliver; nobody else has, or does.
        give_back: Lets somebody else deliver.
        wait: Waits for some seconds.
    """

    def __init__(
        self,
        place: str | None,
        *,
        others: Callable[[], list[str]],
        send: Callable[..., None],
        tell: Callable[[Answer], dict[str, Any]],
        fail: Callable[[SatchelError], dict[str, Any]],
        claim: Callable[[], bool],
        give_back: Callable[[], None],
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._place = place
        self._others = others
        self._send = send
        self._tell = tell
        self._fail = fail
        self._claim = claim
        self._give_back = give_back
        self._wait = wait
        self._socket = SocketListener(partial(send, place)) if place else None

    @classmethod
    def nowhere(cls) -> "Delivery":
        """Nobody waits on a socket."""
        return cls(
            None,
            others=list,
            send=_nothing,
            tell=lambda _: {},
            fail=lambda _: {},
            claim=lambda: False,
            give_back=_nothing,
        )

    @property
    def listener(self) -> Listener:
        """Who is told what happens meanwhile."""
        return self._socket or Silence()

    def deliver(self, answer: Answer) -> None:
        """Send the answer to the first place that is still there; nobody there leaves it for the next connection."""
        if self._socket:
            self._socket.flush()
        if not self._claim():
            return
        arrived = False
        try:
            arrived = self._anywhere("done", **self._tell(answer))
        finally:
            if not arrived:
                self._give_back()

    @contextmanager
    def of_failure(self) -> Generator[None]:
        """Send what goes wrong inside, and let it go on going wrong."""
        try:
            yield
        except SatchelError as error:
            self._anywhere("error", **self._fail(error))
            raise

    def _anywhere(self, kind: str, **fields: Any) -> bool:
        """Whether somebody got a frame. Who has just connected is told nothing until the handshake is over."""
        for pause_s in _PAUSES_S:
            self._wait(pause_s)
            places = self._places()
            for place in places:
                with suppress(GoneError):
                    self._send(place, kind, **fields)
                    return True
            if not set(places) - {self._place}:
                return False
        return False

    def _places(self) -> list[str]:
        others = [other for other in self._others() if other != self._place]
        return [self._place, *others] if self._place else others


def _nothing(*_values: Any, **_fields: Any) -> None:
    pass
