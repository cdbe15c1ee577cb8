"""The request of `POST /v1/session-blocks:build`, named as in the batch document."""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationInfo, field_validator

from satchel.api.wire.built_blocks import TagsModel
from satchel.blocks.sessions import KnownBlock, Message, Options, Session, in_order
from satchel.errors import InvalidInputError
from satchel.timestamps import parse_iso_timestamp

_UNSENDABLE = re.compile("[\ud800-\udfff]")
_MAX_GAP_MINUTES = 525_600


def _text(value: Any) -> Any:
    """The document's normalisation: numbers become text, NULs are dropped, blank ends are trimmed."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return value
    value = value.strip()
    if "\x00" in value:
        value = value.replace("\x00", "").strip()
    return value if value.isascii() else _UNSENDABLE.sub("\ufffd", value)


def _moment(value: Any) -> Any:
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str):
        raise ValueError("an ISO-8601 text is needed")  # noqa: TRY004 - pydantic turns a ValueError into a finding
    try:
        return parse_iso_timestamp(value.strip())
    except (ValueError, OverflowError) as error:
        raise ValueError("an ISO-8601 time stamp is needed") from error


def _no_bool(value: Any) -> Any:
    if isinstance(value, bool | str):
        raise ValueError("a number is needed")  # noqa: TRY004 - pydantic turns a ValueError into a finding
    return value


Text = Annotated[str, BeforeValidator(_text)]
Id = Annotated[str, BeforeValidator(_text), Field(min_length=1, max_length=512)]
_Moment = Annotated[datetime, BeforeValidator(_moment, json_schema_input_type=str)]
_Number = Annotated[float, BeforeValidator(_no_bool), Field(allow_inf_nan=False)]
_Whole = Annotated[int, BeforeValidator(_no_bool)]


class MessageIn(BaseModel):
    """One message of the session."""

    messageId: Id  # noqa: N815 - the document's names
    role: Literal["user", "assistant", "system"]
    content: Text
    timestamp: _Moment = Field(description="ISO-8601; naive means UTC.")
    speaker: Text | None = Field(default=None, description="Who spoke, where several people share a role.")

    def to_message(self) -> Message:
        """The message as the builder takes it."""
        return Message(self.messageId, self.role, self.content, self.timestamp, self.speaker or "")


class ExistingBlock(BaseModel):
    """A block of an earlier build."""

    blockId: Id  # noqa: N815
    messageIds: list[Id] = Field(description="May name messages that are not sent.")  # noqa: N815
    tags: TagsModel | None = None
    lastMessage: MessageIn | None = Field(  # noqa: N815
        default=None, description="The block's newest message, where it is not sent: new ones are decided against it."
    )

    def to_block(self) -> KnownBlock:
        """The block as the builder takes it."""
        return KnownBlock(
            self.blockId,
            self.messageIds,
            tags=self.tags.to_tags() if self.tags else None,
            last_message=self.lastMessage.to_message() if self.lastMessage else None,
        )


class OptionsIn(BaseModel):
    """How to decide; `{}` is the document's defaults."""

    timeGapMinutes: Annotated[_Number, Field(gt=0, le=_MAX_GAP_MINUTES)] = 10  # noqa: N815
    shiftLowSim: Annotated[_Number, Field(ge=0, le=1)] = 0.20  # noqa: N815
    shiftHighSim: Annotated[_Number, Field(ge=0, le=1, validate_default=True)] = 0.45  # noqa: N815
    maxLastMessagesForContext: Annotated[_Whole, Field(ge=1, le=30)] = 6  # noqa: N815
    timeGapMode: Literal["hard", "soft"] = "hard"  # noqa: N815
    similarity: Literal["continuity", "cosine"] = "continuity"
    maxLlmCalls: Annotated[_Whole, Field(ge=0, le=1000)] = 40  # noqa: N815
    summarize: bool = True
    explain: bool = False
    refreshLlm: bool = False  # noqa: N815

    @field_validator("shiftHighSim")
    @classmethod
    def _ordered(cls, high: float, info: ValidationInfo) -> float:
        if info.data.get("shiftLowSim", 0) > high:
            raise ValueError("shiftHighSim must not be below shiftLowSim")
        return high

    def to_options(self) -> Options:
        """The options as the builder takes them."""
        return Options(
            time_gap_minutes=self.timeGapMinutes,
            shift_low_sim=self.shiftLowSim,
            shift_high_sim=self.shiftHighSim,
            context=self.maxLastMessagesForContext,
            gap_mode=self.timeGapMode,
            similarity=self.similarity,
            max_llm_calls=self.maxLlmCalls,
            summarize=self.summarize,
            explain=self.explain,
            refresh_llm=self.refreshLlm,
        )


class BuildRequest(BaseModel):
    """A session to cut into topical blocks. All five fields are required; `[]` and `{}` are fine."""

    sessionId: Id  # noqa: N815
    analysisMode: Literal["INCREMENTAL", "FULL"] = Field(  # noqa: N815
        description="FULL decides every message; INCREMENTAL keeps those that are in a block already."
    )
    messages: list[MessageIn] = Field(min_length=1)
    existingBlocks: list[ExistingBlock]  # noqa: N815
    options: OptionsIn

    def to_session(self) -> Session:
        """The session in the document's order.

        Raises:
            InvalidInputError: An id stands twice, or a message in two blocks; the field is named.
        """
        _unique((message.messageId for message in self.messages), "messages[{}].messageId")
        _unique((block.blockId for block in self.existingBlocks), "existingBlocks[{}].blockId")
        home: dict[str, int] = {}
        for index, block in enumerate(self.existingBlocks):
            for place, message_id in enumerate(block.messageIds):
                if message_id in home:
                    raise InvalidInputError(
                        f"the message is in existingBlocks[{home[message_id]}] already",
                        field=f"existingBlocks[{index}].messageIds[{place}]",
                    )
                home[message_id] = index
            if block.lastMessage and home.get(block.lastMessage.messageId) != index:
                raise InvalidInputError(
                    "lastMessage is not one of the block's messages",
                    field=f"existingBlocks[{index}].lastMessage.messageId",
                )
        return Session(
            self.sessionId,
            self.analysisMode,
            in_order([message.to_message() for message in self.messages]),
            tuple(block.to_block() for block in self.existingBlocks),
        )


def _unique(ids: Iterable[str], path: str) -> None:
    seen: dict[str, int] = {}
    for index, item in enumerate(ids):
        if item in seen:
            raise InvalidInputError(f"the id stands at {path.format(seen[item])} already", field=path.format(index))
        seen[item] = index
