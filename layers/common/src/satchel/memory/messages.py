"""Messages: the verbatim record of a conversation, and the rules for what one may be."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from satchel.errors import TooLargeError

Role = Literal["user", "assistant", "system", "tool"]

# The largest content of one message, in bytes of UTF-8.
MAX_CONTENT_BYTES = 262_144
# The largest metadata of one message, in bytes of JSON.
MAX_METADATA_BYTES = 65_536
MAX_ID_CHARS = 200
DEFAULT_SESSION = "default"


@dataclass(frozen=True)
class NewMessage:
    """A message as it is handed in.

    Attributes:
        session_id: The conversation it belongs to.
        message_id: Unique within the conversation.
        role: Who speaks.
        content: What is said, storable as it stands.
        metadata: Anything the client wants kept with it; `speaker` names who spoke.
        timestamp: When it was said (UTC); None lets its arrival stand for that.
    """

    session_id: str
    message_id: str
    role: Role
    content: str
    metadata: dict[str, Any]
    timestamp: datetime | None


@dataclass(frozen=True)
class Message:
    """A stored message.

    Attributes:
        seq: Order of arrival among the user's messages; with `created_at` it orders a conversation.
        created_at: When it was said, UTC.
        timestamp_given: Whether the client named `created_at`, or arrival stood for it.
    """

    session_id: str
    message_id: str
    seq: int
    role: Role
    content: str
    metadata: dict[str, Any]
    created_at: datetime
    timestamp_given: bool

    @property
    def speaker(self) -> str:
        """Who spoke: `metadata.speaker` where given, else the role."""
        named = self.metadata.get("speaker")
        return named if isinstance(named, str) and named else self.role

    @property
    def is_step(self) -> bool:
        """Whether it is only a note of the work on an answer, which its client says with `metadata.step`."""
        return self.metadata.get("step") is True

    def is_repeat(self, new: NewMessage) -> bool:
        """Whether `new`, which has the id of this message, is this message handed in once more.

        A time stamp counts only where both times one was given.
        """
        same_time = new.timestamp is None or not self.timestamp_given or new.timestamp == self.created_at
        return same_time and (self.role, self.content, self.metadata) == (new.role, new.content, new.metadata)


def check_size(new: NewMessage, *, metadata_bytes: int) -> None:
    """Return when `new` is within the limits of one message.

    Args:
        new: The message.
        metadata_bytes: Size of its metadata as JSON.

    Raises:
        TooLargeError: Content or metadata is over its limit.
    """
    if len(new.content.encode()) > MAX_CONTENT_BYTES:
        raise TooLargeError(f"content is over {MAX_CONTENT_BYTES} bytes; send it in parts", field="content")
    if metadata_bytes > MAX_METADATA_BYTES:
        raise TooLargeError(f"metadata is over {MAX_METADATA_BYTES} bytes", field="metadata")
