"""The blocks of stored sessions: one message that is ingested, and what `context://blocks/{session_id}` reads."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field

from satchel.api.wire.blocks import MessageIn, Text
from satchel.api.wire.built_blocks import BlockOut
from satchel.api.wire.types import Identifier
from satchel.blocks.result import BuiltBlock
from satchel.blocks.sessions import ANALYSIS_VERSION
from satchel.blocks.stored import Placement
from satchel.errors import NotFoundError, UnavailableError
from satchel.memory.messages import Message as StoredMessage
from satchel.memory.messages import NewMessage

# Of a stored session this many blocks are shown, the newest.
SHOWN_BLOCKS = 200


class IngestedMessage(MessageIn):
    """The message; its ids are those of the store."""

    messageId: Identifier  # noqa: N815
    content: Annotated[Text, Field(min_length=1)]

    def to_new_message(self, session_id: str) -> NewMessage:
        """The message as the store takes it."""
        metadata = {"speaker": self.speaker} if self.speaker else {}
        return NewMessage(session_id, self.messageId, self.role, self.content, metadata, self.timestamp)


class IngestRequest(BaseModel):
    """One message of a stored session."""

    sessionId: Identifier  # noqa: N815
    message: IngestedMessage


class IngestResponse(BaseModel):
    """Where the message is."""

    sessionId: str  # noqa: N815
    messageId: str  # noqa: N815
    blockId: str  # noqa: N815
    action: Literal["APPEND", "NEW_BLOCK"]
    rule: str
    score: float | None
    duplicate: bool = Field(description="True where this very message had been ingested before.")
    analysis_version: str

    @classmethod
    def of(cls, message: StoredMessage, placement: Placement | None, *, duplicate: bool) -> Self:
        """Where `message` is.

        Raises:
            UnavailableError: It is nowhere: it was deleted while it was being placed.
        """
        if placement is None:
            raise UnavailableError("the message was deleted meanwhile")
        return cls(
            sessionId=message.session_id,
            messageId=message.message_id,
            blockId=placement.block_id,
            action=placement.action,
            rule=placement.rule,
            score=placement.score,
            duplicate=duplicate,
            analysis_version=ANALYSIS_VERSION,
        )


class SessionBlocks(BaseModel):
    """The blocks of a stored session, as `context://blocks/{session_id}` reads."""

    sessionId: str  # noqa: N815
    analysis_version: str
    blocks: list[BlockOut]
    has_older: bool = Field(description="There are older blocks than those shown.")

    @classmethod
    def of(cls, session_id: str, blocks: Sequence[BuiltBlock], *, has_older: bool) -> Self:
        """The blocks as they go out.

        Raises:
            NotFoundError: There are none: the user has no such session.
        """
        if not blocks:
            raise NotFoundError("there is no session of this id", field="uri")
        return cls(
            sessionId=session_id,
            analysis_version=ANALYSIS_VERSION,
            blocks=[BlockOut.of(block) for block in blocks],
            has_older=has_older,
        )
