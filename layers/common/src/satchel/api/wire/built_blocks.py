"""Blocks as they go out: the response of `POST /v1/session-blocks:build`, named as in the batch document."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_serializer, model_validator

from satchel.blocks.result import BuildResult, BuiltBlock
from satchel.blocks.sessions import Tags
from satchel.errors import InvalidAnswerError
from satchel.timestamps import format_timestamp


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
