"""What `save_message` and `search_conversation` take and answer, as in `docs/api.md`."""

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from satchel.errors import InvalidInputError
from satchel.memory.messages import DEFAULT_SESSION, MAX_ID_CHARS, Message, NewMessage, Role, storable_message
from satchel.timestamps import format_timestamp, parse_timestamp

# An id a client chose: visible text, so that it survives logs, URIs and other systems.
Identifier = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID_CHARS, pattern=r"^[^\x00-\x1f\x7f]+$")]
# A time stamp as callers write it; `parse_timestamp` gives it its meaning.
TimestampInput = Annotated[
    str | int | float,
    Field(description="ISO-8601 (naive means UTC), or epoch seconds or milliseconds"),
]


class SaveMessageArguments(BaseModel):
    """One message to keep."""

    model_config = ConfigDict(extra="forbid")

    role: Role = Field(description="Who speaks.")
    content: str = Field(min_length=1, description="What was said, verbatim; at most 262,144 bytes of UTF-8.")
    timestamp: TimestampInput | None = Field(default=None, description="When it was said; default: now.")
    session_id: Identifier = Field(default=DEFAULT_SESSION, description="The conversation it belongs to.")
    message_id: Identifier | None = Field(
        default=None,
        description="Your id for it. Sending the same message again under the same id is safe.",
    )
    metadata: dict[str, Any] = Field(
        default_factory=dict,
        description="Anything to keep with it; `speaker` names who spoke.",
    )

    def to_message(self, *, new_id: str) -> NewMessage:
        """The message as the store takes it.

        Args:
            new_id: Its id where the caller gave none.

        Raises:
            InvalidInputError: A field is wrong in a way no schema tells.
        """
        if not self.content.strip():
            raise InvalidInputError("content is blank", field="content")
        new = NewMessage(
            session_id=self.session_id,
            message_id=self.message_id or new_id,
            role=self.role,
            content=self.content,
            metadata=self.metadata,
            timestamp=None if self.timestamp is None else parse_timestamp(self.timestamp, field="timestamp"),
        )
        return storable_message(new, metadata_bytes=len(json.dumps(self.metadata, ensure_ascii=False)))


class MessageOut(BaseModel):
    """A stored message."""

    message_id: str
    session_id: str
    role: Role
    content: str
    created_at: str = Field(description="ISO-8601, UTC.")
    metadata: dict[str, Any]

    @classmethod
    def of(cls, message: Message) -> "MessageOut":
        """`message` as it goes out."""
        return cls(
            message_id=message.message_id,
            session_id=message.session_id,
            role=message.role,
            content=message.content,
            created_at=format_timestamp(message.created_at),
            metadata=message.metadata,
        )


class SaveMessageResult(BaseModel):
    """The message as it is stored."""

    message: MessageOut
    duplicate: bool = Field(description="True where this very message had been saved before.")
