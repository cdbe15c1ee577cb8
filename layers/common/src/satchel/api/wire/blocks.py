"""The request and response of `POST /v1/session-blocks:build`, named as in the batch document."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_serializer, model_validator

from satchel.api.wire.types import Identifier
from satchel.blocks.result import BuildResult, BuiltBlock
from satchel.blocks.sessions import ANALYSIS_VERSION, KnownBlock, Message, Options, Session, Tags, in_order
from satchel.blocks.stored import Placement
from satchel.errors import InvalidAnswerError, InvalidInputError, NotFoundError, UnavailableError
from satchel.memory.messages import Message as StoredMessage
from satchel.memory.messages import NewMessage
from satchel.timestamps import format_timestamp, parse_iso_timestamp

_UNSENDABLE = re.compile("[\ud800-\udfff]")
_MAX_GAP_MINUTES = 525_600
# Of a stored session this many blocks are shown, the newest.
SHOWN_BLOCKS = 200


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


_Text = Annotated[str, BeforeValidator(_text)]
_Id = Annotated[str, BeforeValidator(_text), Field(min_length=1, max_length=512)]
_Moment = Annotated[datetime, BeforeValidator(_moment, json_schema_input_type=str)]
_Number = Annotated[float, BeforeValidator(_no_bool), Field(allow_inf_nan=False)]
_Whole = Annotated[int, BeforeValidator(_no_bool)]


class MessageIn(BaseModel):
    """One message of the session."""

    messageId: _Id  # noqa: N815 - the document's names
    role: Literal["user", "assistant", "system"]
    content: _Text
    timestamp: _Moment = Field(description="ISO-8601; naive means UTC.")
    speaker: _Text | None = Field(default=None, description="Who spoke, where several people share a role.")

    def to_message(self) -> Message:
        """The message as the builder takes it."""
        return Message(self.messageId, self.role, self.content, self.timestamp, self.speaker or "")


def _no_none(value: Any) -> Any:
    return "" if value is None else value


_Tag = Annotated[str, BeforeValidator(_no_none)]


class TagsModel(BaseModel):
    """What a block is about; an empty text where nothing was found."""

    CONTEXT: _Tag = ""
    PROBLEM: _Tag = ""
    TRIAL: list[str] = Field(default_factory=list)
    SOLUTION: _Tag = ""
    INSIGHT: _Tag = ""

    def to_tags(self) -> Tags:
        """The tags as the builder takes them."""
        return Tags(self.CONTEXT, self.PROBLEM, tuple(self.TRIAL), self.SOLUTION, self.INSIGHT)

    @classmethod
    def of(cls, tags: Tags) -> Self:
        """`tags` as they go out."""
        return cls(
            CONTEXT=tags.CONTEXT,
            PROBLEM=tags.PROBLEM,
            TRIAL=list(tags.TRIAL),
            SOLUTION=tags.SOLUTION,
            INSIGHT=tags.INSIGHT,
        )


class ExistingBlock(BaseModel):
    """A block of an earlier build."""

    blockId: _Id  # noqa: N815
    messageIds: list[_Id] = Field(description="May name messages that are not sent.")  # noqa: N815
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
    shiftHighSim: Annotated[_Number, Field(ge=0, le=1)] = 0.45  # noqa: N815
    maxLastMessagesForContext: Annotated[_Whole, Field(ge=1, le=30)] = 6  # noqa: N815
    timeGapMode: Literal["hard", "soft"] = "hard"  # noqa: N815
    similarity: Literal["continuity", "cosine"] = "continuity"
    maxLlmCalls: Annotated[_Whole, Field(ge=0, le=1000)] = 40  # noqa: N815
    summarize: bool = True
    explain: bool = False
    refreshLlm: bool = False  # noqa: N815

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.shiftLowSim > self.shiftHighSim:
            raise ValueError("shiftLowSim must not be above shiftHighSim")
        return self

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

    sessionId: _Id  # noqa: N815
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


class SnippetOut(BaseModel):
    """A piece of code, configuration or a command, verbatim."""

    language: str
    content: str
    sourceMessageId: str  # noqa: N815


class BlockMetadata(BaseModel):
    """Where a block's tags come from."""

    model: str = Field(description="The model's name, or `rules`.")
    timestamp: str | None = Field(description="Of the block's last message that was sent; null where none was.")
    analysis_version: str
    partial: bool = Field(description="A model was to summarise the block and its answer could not be used in full.")


class BlockOut(BaseModel):
    """A topical block."""

    blockId: str  # noqa: N815
    messageIds: list[str]  # noqa: N815
    tags: TagsModel
    code_snippets: list[SnippetOut]
    confidence: float | None = Field(ge=0, le=1, description="Null for a block that this build did not change.")
    metadata: BlockMetadata

    @classmethod
    def of(cls, block: BuiltBlock) -> Self:
        """`block` as it goes out."""
        return cls(
            blockId=block.block_id,
            messageIds=list(block.message_ids),
            tags=TagsModel.of(block.tags),
            code_snippets=[
                SnippetOut(language=s.language, content=s.content, sourceMessageId=s.source_message_id)
                for s in block.snippets
            ],
            confidence=block.confidence,
            metadata=BlockMetadata(
                model=block.model,
                timestamp=format_timestamp(block.last_at) if block.last_at else None,
                analysis_version=block.analysis_version,
                partial=block.partial,
            ),
        )


class BuildStats(BaseModel):
    """What the build did."""

    numMessages: int  # noqa: N815
    numBlocks: int  # noqa: N815
    llmCalls_shift: int = Field(description="Questions about the zone whose answers were used.")  # noqa: N815
    llmCalls_summarize: int = Field(description="Questions for tags whose answers were used.")  # noqa: N815


class Explanation(BaseModel):
    """How one message was decided."""

    messageId: str  # noqa: N815
    score: float | None
    action: Literal["APPEND", "NEW_BLOCK"]
    rule: str
    reason: str | None = None


class BuildResponse(BaseModel):
    """The session's blocks."""

    sessionId: str  # noqa: N815
    analysis_version: str
    model: str
    blocks: list[BlockOut]
    messageToBlock: dict[str, str]  # noqa: N815
    stats: BuildStats
    explanations: list[Explanation] | None = Field(default=None, description="With `options.explain`.")

    @classmethod
    def of(cls, result: BuildResult) -> Self:
        """`result` as it goes out.

        Raises:
            InvalidAnswerError: It breaks the contract, which is a fault of ours and must not be sent.
        """
        try:
            return cls._of(result)
        except ValidationError as error:
            raise InvalidAnswerError("the answer does not fit its schema and was not sent") from error

    @classmethod
    def _of(cls, result: BuildResult) -> Self:
        return cls(
            sessionId=result.session_id,
            analysis_version=result.analysis_version,
            model=result.model,
            blocks=[BlockOut.of(block) for block in result.blocks],
            messageToBlock={m: block.block_id for block in result.blocks for m in block.message_ids},
            stats=BuildStats(
                numMessages=result.messages,
                numBlocks=len(result.blocks),
                llmCalls_shift=result.shift_calls,
                llmCalls_summarize=result.summary_calls,
            ),
            explanations=[
                Explanation(messageId=e.message_id, score=e.score, action=e.action, rule=e.rule, reason=e.reason)
                for e in result.explanations
            ]
            if result.explanations is not None
            else None,
        )

    @model_serializer(mode="wrap")
    def _without_absent(self, write: Callable[[Self], dict[str, Any]]) -> dict[str, Any]:
        written = write(self)
        if self.explanations is None:
            del written["explanations"]
        return written

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        total = sum(len(block.messageIds) for block in self.blocks)
        if total != len(self.messageToBlock) or self.stats.numBlocks != len(self.blocks):
            raise ValueError("a message stands in two blocks, or the counts disagree")
        return self


class IngestedMessage(MessageIn):
    """The message; its ids are those of the store."""

    messageId: Identifier  # noqa: N815
    content: Annotated[_Text, Field(min_length=1)]

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
