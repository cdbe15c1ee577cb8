"""What `upstream_tool` takes and answers: one call of a tool of another MCP server, filtered."""

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from satchel.api.wire.any_json import AnyJson

if TYPE_CHECKING:
    from satchel.filtering.answering import Answered

# An argument that every proxied tool takes beside its own; the upstream never sees it.
QUESTION_ARGUMENT = "_question"


class UpstreamArguments(BaseModel):
    """A call by mapped name."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=64)
    arguments: dict[str, Any] = Field(default_factory=dict)


class NoArguments(BaseModel):
    """Nothing."""

    model_config = ConfigDict(extra="forbid")


class ListedTool(BaseModel):
    """A tool of an upstream server, under the name it has here."""

    name: str
    title: str
    description: str
    input_schema: dict[str, Any]
    read_only: bool
    destructive: bool
    idempotent: bool


class UpstreamListing(BaseModel):
    """All tools of all servers that answer."""

    tools: list[ListedTool]
    warnings: list[str] = Field(description="Servers and tools that were left out, and why.")


class UpstreamResult(BaseModel):
    """The upstream's answer, cut to what matters and redacted."""

    model_config = ConfigDict(populate_by_name=True)

    data: AnyJson = Field(description="The answer.")
    total: int = Field(description="Items there were.")
    kept: int = Field(description="Items that are left.")
    removed_by_reason: dict[str, int] = Field(serialization_alias="removedByReason")
    handle: str | None = Field(description="URI of what was cut, for 24 hours.")
    notice: str | None = None
    attachments: list[dict[str, Any]] = Field(description="Blocks that are no text, by size.")

    @classmethod
    def of(cls, answered: "Answered", attachments: list[dict[str, Any]]) -> "UpstreamResult":
        """`answered` as it goes out."""
        result = answered.result
        return cls(
            data=result.data,
            total=result.total,
            kept=result.kept,
            removed_by_reason=result.removed_by_reason,
            handle=answered.handle,
            notice=answered.notice,
            attachments=attachments,
        )
