"""What `/v1/chat` takes and answers, as in `docs/api.md`."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from satchel.agent.answer import Answer
from satchel.api.wire.types import Identifier, StorableText

_MAX_MESSAGE_CHARS = 100_000
# The ids of what a turn says are made of it, and have to fit as well.
_MAX_MESSAGE_ID_CHARS = 180


class ChatArguments(BaseModel):
    """Something the user says."""

    model_config = ConfigDict(extra="forbid")

    message: StorableText = Field(min_length=1, max_length=_MAX_MESSAGE_CHARS, pattern=r"\S")
    session_id: Identifier = "default"
    message_id: Identifier | None = Field(default=None, max_length=_MAX_MESSAGE_ID_CHARS)
    show_context: bool = Field(default=False, description="Answer with the context that was used, too.")


class ChatFrame(ChatArguments):
    """The same, over the socket."""

    type: Literal["sendMessage"]


class LinkCode(BaseModel):
    """A code that links a chat to whoever sends it from there."""

    code: str
    expires_at: str
    command: str = Field(description="What to send to the bot.")


class ToolCallOut(BaseModel):
    """One call of a tool."""

    name: str
    input: Any
    is_error: bool


class UsageOut(BaseModel):
    """Tokens, as the Messages API counts them, and the share of the input that its cache read."""

    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int
    cache_creation_input_tokens: int
    cache_read_share: float


class ChatResult(BaseModel):
    """The answer."""

    session_id: str
    message_ids: list[str] = Field(description="Of the turn's messages: the user's first, the answer last.")
    text: str
    tool_calls: list[ToolCallOut]
    usage: UsageOut
    cost_usd: str = Field(description="A decimal.")
    context: dict[str, str] | None = Field(default=None, description="Texts of the context resources, if asked for.")

    @classmethod
    def of(cls, answer: Answer, *, show_context: bool = False) -> "ChatResult":
        """`answer` as it goes out."""
        return cls(
            session_id=answer.session_id,
            message_ids=answer.message_ids,
            text=answer.text,
            tool_calls=[ToolCallOut(**call) for call in answer.tool_calls],
            usage=UsageOut(**answer.usage.as_dict(), cache_read_share=answer.usage.cache_read_share),
            cost_usd=f"{answer.cost_usd.normalize():f}",
            context=dict(answer.context) if show_context else None,
        )


class JobAccepted(BaseModel):
    """The answer takes longer; ask `GET /v1/chat/jobs/{job_id}` for it."""

    job_id: str
    session_id: str
    message_id: str


class JobError(BaseModel):
    """Why a job failed."""

    code: str
    message: str


class JobResult(BaseModel):
    """A job."""

    job_id: str
    status: Literal["queued", "running", "done", "failed"]
    result: ChatResult | None = None
    error: JobError | None = None
