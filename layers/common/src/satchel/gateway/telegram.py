"""Sends answers to chats of Telegram, through its Bot API."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from typing import Any

from satchel.agent.answer import Answer
from satchel.agent.ports import Listener, Silence
from satchel.agent.telegram_text import Part, parts
from satchel.errors import SatchelError, UnavailableError

_TIMEOUT_S = 10.0
_GIVEN_UP = "I could not answer this: something I need does not answer. It is kept; write to me again in a while."


class RefusedError(Exception):
    """Telegram finds the message itself wrong."""


class TelegramBot:
    """A bot.

    Args:
        url: Telegram's API.
        token: Gives the bot's token.
    """

    def __init__(self, url: str, token: Callable[[], str]) -> None:
        self._url = url.rstrip("/")
        self._token = token

    def send(self, chat_id: str, part: Part) -> None:
        """Send one message; as plain text where Telegram does not like its entities.

        Raises:
            UnavailableError: Telegram does not answer, or takes nothing for this chat.
        """
        message: dict[str, Any] = {"chat_id": chat_id, "text": part.text}
        try:
            if not part.entities:
                self._call("sendMessage", message)
                return
            try:
                self._call("sendMessage", {**message, "entities": part.entities})
            except RefusedError:
                self._call("sendMessage", message)
        except RefusedError as error:
            raise UnavailableError("Telegram takes no message for this chat") from error

    def _call(self, method: str, fields: Mapping[str, Any]) -> None:
        request = urllib.request.Request(  # noqa: S310 - a configured URL
            f"{self._url}/bot{self._token()}/{method}",
            data=json.dumps(fields).encode(),
            headers={"content-type": "application/json"},
            method="POST",
        )
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310 - as above
                answer.read()
        except urllib.error.HTTPError as error:
            if error.code == HTTPStatus.BAD_REQUEST:
                raise RefusedError from None  # the URL in it has the bot's token
            raise UnavailableError("Telegram does not take messages now") from None
        except OSError:
            raise UnavailableError("Telegram does not answer") from None


class TelegramDelivery:
    """The way of one turn's answer to a chat. An answer is delivered once, by whoever claims that.

    Args:
        send: Sends a message to the chat.
        claim: Whether we are the one to deliver.
        give_back: Lets somebody else deliver.
        last: Whether nobody tries again after us.
    """

    def __init__(
        self,
        send: Callable[[Part], None],
        *,
        claim: Callable[[], bool],
        give_back: Callable[[], None],
        last: bool = False,
    ) -> None:
        self._send = send
        self._claim = claim
        self._give_back = give_back
        self._last = last

    @property
    def listener(self) -> Listener:
        """Nobody: a chat gets whole messages."""
        return Silence()

    def deliver(self, answer: Answer) -> None:
        """Send the answer, in as many messages as it takes.

        Raises:
            UnavailableError: Nothing of it arrived; it can be delivered again.
        """
        if not self._claim():
            return
        first, *more = parts(answer.text)
        try:
            self._send(first)
        except UnavailableError:
            self._give_back()
            raise
        for part in more:
            self._send(part)

    @contextmanager
    def of_failure(self) -> Generator[None]:
        """Let what goes wrong inside go on: the turn is tried again, and the chat is told when nobody does any more."""
        try:
            yield
        except SatchelError:
            if self._last:
                with suppress(UnavailableError):
                    self._send(Part(_GIVEN_UP, []))
            raise
