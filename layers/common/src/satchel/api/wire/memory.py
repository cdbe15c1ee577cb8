"""What `save_message` and `search_conversation` take and answer, as in `docs/api.md`."""

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from satchel.api.wire.types import Identifier, Metadata, StorableText, Timestamp
from satchel.errors import InvalidInputError
from satchel.memory.messages import DEFAULT_SESSION, Message, NewMessage, Role, check_size
from satchel.timestamps import format_timestamp


class SaveMessageArguments(BaseModel):
    """One message to keep."""

    model_config = ConfigDict(extra="forbid")

    role: Role = Field(description="Who speaks.")
    content: StorableText = Field(min_length=1, description="What was said, verbatim; at most 262,144 bytes of UTF-8.")
    timestamp: Timestamp | None = Field(default=None, description="When it was said; default: now.")
    session_id: Identifier = Field(default=DEFAULT_SESSION, description="The conversation it belongs to.")
    message_id: Identifier | None = Field(
        default=None,
        description="Your id for it. Sending the same message again under the same id is safe.",
    )
    metadata: Metadata = Field(
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
            timestamp=self.timestamp,
        )
        check_size(new, metadata_bytes=len(json.dumps(self.metadata, ensure_ascii=False).encode()))
        return new


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
