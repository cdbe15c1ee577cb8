"""The pages of `context://conversation/{session_id}{?before,limit}`."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Self
from urllib.parse import quote, urlencode

from pydantic import BaseModel, ConfigDict, Field

from satchel.api.json_text import MAX_ANSWER_BYTES, compact_json
from satchel.api.validation import validate
from satchel.api.wire.memory import MessageOut
from satchel.api.wire.types import Identifier
from satchel.errors import InvalidInputError
from satchel.memory.messages import Message
from satchel.timestamps import format_timestamp, parse_timestamp

DEFAULT_PAGE = 50
MAX_PAGE = 200
# For everything on a page but the content and metadata of its messages.
_RESERVED_BYTES = 500_000


class PageVariables(BaseModel):
    """Which page is asked for.

    Attributes:
        session_id: The session.
        before: The place the page ends before: a time and an order of arrival; None for the newest page.
        limit: Messages on the page.
    """

    model_config = ConfigDict(frozen=True)

    session_id: Identifier
    before: tuple[datetime, int] | None = None
    limit: int = Field(default=DEFAULT_PAGE, ge=1, le=MAX_PAGE)

    @classmethod
    def read(cls, variables: dict[str, str]) -> Self:
        """The page that a URI's variables name.

        Args:
            variables: `session_id`, and perhaps `before` (a time stamp, or a place as `next` writes it:
                `TIMESTAMP~ARRIVAL`) and `limit`.

        Raises:
            InvalidInputError: One of them is wrong.
        """
        before = variables.get("before")
        return validate(cls, {**variables, "before": None if before is None else _place(before)})


class ConversationPage(BaseModel):
    """A page of a session.

    Attributes:
        session_id: The session.
        messages: Its messages, oldest first.
        next: The URI of the page before this one in time; None on the last.
    """

    session_id: str
    messages: list[MessageOut]
    next: str | None

    @classmethod
    def of(cls, page: PageVariables, newest_first: Sequence[Message]) -> Self:
        """The page of `newest_first`, which holds one message more than the page where there is a next one.

        Messages that would make it more than one answer can carry are left to the next page.
        """
        shown = _fitting(newest_first[: page.limit])
        following = None
        if len(newest_first) > len(shown):
            place = f"{format_timestamp(shown[-1].created_at)}~{shown[-1].seq}"
            query = urlencode({"before": place, "limit": page.limit}, safe="~:")
            following = f"context://conversation/{quote(page.session_id, safe='')}?{query}"
        return cls(
            session_id=page.session_id,
            messages=[MessageOut.of(message) for message in reversed(shown)],
            next=following,
        )


def _fitting(messages: Sequence[Message]) -> Sequence[Message]:
    """As many of `messages` as one answer carries, but one at least."""
    room = MAX_ANSWER_BYTES - _RESERVED_BYTES
    for count, message in enumerate(messages):
        room -= _carried_bytes(message.content) + _carried_bytes(compact_json(message.metadata))
        if room < 0:
            return messages[: max(count, 1)]
    return messages


def _carried_bytes(text: str) -> int:
    """The most that `text` takes: quoted in the page, the page in its contents, and those in the answer."""
    return len(json.dumps(json.dumps(json.dumps(text, ensure_ascii=False), ensure_ascii=False)))


def _place(text: str) -> tuple[datetime, int]:
    moment, _, arrival = text.partition("~")
    if arrival and not (arrival.isascii() and arrival.isdigit() and len(arrival) < 19):  # noqa: PLR2004 - a bigint
        raise InvalidInputError("before must be a time stamp, or a place that a page's `next` names", field="before")
    # Arrival starts at 1: a time alone ends before every message of that time.
    return parse_timestamp(moment, field="before"), int(arrival or 0)
