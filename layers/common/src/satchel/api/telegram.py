"""What Telegram sends to the webhook, as far as we use it, and what it may be answered with."""

import hmac
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from satchel.api.envelopes import json_response
from satchel.api.gateway_request import GatewayRequest
from satchel.api.wire.types import StorableText
from satchel.errors import UnauthorizedError

_SECRET_HEADER = "x-telegram-bot-api-secret-token"  # noqa: S105 - a header's name
_START = "/start"


class _Chat(BaseModel):
    id: int


class _Message(BaseModel):
    model_config = ConfigDict(extra="ignore")

    chat: _Chat
    text: StorableText = ""


class TelegramUpdate(BaseModel):
    """One update (https://core.telegram.org/bots/api#update); what is no new text message has no `message`."""

    model_config = ConfigDict(extra="ignore")

    update_id: int = Field(ge=0)
    message: _Message | None = None


@dataclass(frozen=True)
class TelegramText:
    """A text that somebody sent.

    Attributes:
        message_id: Our id for it: the same update again is the same message.
        chat_id: The chat it was sent from.
        text: What they wrote.
    """

    message_id: str
    chat_id: str
    text: str

    @classmethod
    def of(cls, update: TelegramUpdate) -> "TelegramText | None":
        """The text of an update; None where it has none."""
        if update.message is None or not update.message.text.strip():
            return None
        return cls(f"telegram-{update.update_id}", str(update.message.chat.id), update.message.text)

    @property
    def session_id(self) -> str:
        """The conversation that the chat is."""
        return f"telegram-{self.chat_id}"

    @property
    def code(self) -> str | None:
        """The code of `/start CODE`; empty for a bare `/start`; None for anything else."""
        command, _, rest = self.text.strip().partition(" ")
        return rest.strip() if command == _START else None


def check_secret(request: GatewayRequest, secret: str) -> None:
    """Return where Telegram sent this.

    Raises:
        UnauthorizedError: The secret that we gave Telegram is missing or wrong, or we gave it none.
    """
    sent = request.headers.get(_SECRET_HEADER, "")
    if not secret or not hmac.compare_digest(sent.encode("utf-8", "replace"), secret.encode()):
        raise UnauthorizedError("this is not Telegram")


def taken() -> dict[str, Any]:
    """200: nothing to send again."""
    return json_response(200, {})


def reply(chat_id: str, text: str) -> dict[str, Any]:
    """200 with a message to send, which Telegram allows in place of a call of its API."""
    return json_response(200, {"method": "sendMessage", "chat_id": chat_id, "text": text})
