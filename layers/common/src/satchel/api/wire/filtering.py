"""What the filter takes and answers, as in `docs/api.md`; names are those of the document."""

from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from satchel.api.wire.any_json import AnyJson
from satchel.api.wire.types import StorableText
from satchel.timestamps import format_timestamp

if TYPE_CHECKING:
    from satchel.filtering.answering import Answered
    from satchel.filtering.store import AuditRow

_MAX_RESULTS = 1_000
_MAX_DEPTH = 200
_MAX_FIELDS = 100_000


class _CamelModel(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class ToolIn(BaseModel):
    """The tool that answered; its description and schema are taken and not needed."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    name: str = Field(min_length=1, max_length=256)
    description: str | None = None
    input_schema: dict[str, Any] | None = Field(default=None, alias="inputSchema")


class IntentIn(_CamelModel):
    """What the caller wants, where it is known."""

    intent: str = Field(default="", max_length=4_000)
    keywords: list[str] = Field(default_factory=list, max_length=200)
    filters: dict[str, Any] = Field(
        default_factory=dict, description="They lift items; those under `required` are hard."
    )
    max_results: int = Field(default=10, ge=1, le=_MAX_RESULTS, alias="maxResults")
    confidence: float = Field(default=1.0, ge=0, le=1)


class ConfigIn(_CamelModel):
    """How to filter and what to redact."""

    preserve_fields: list[str] = Field(default_factory=list, max_length=1_000, alias="preserveFields")
    max_depth: int | None = Field(default=None, ge=1, le=_MAX_DEPTH, alias="maxDepth")
    max_fields: int | None = Field(default=None, ge=1, le=_MAX_FIELDS, alias="maxFields")
    prompt_template: str | None = Field(default=None, max_length=10_000, alias="promptTemplate")
    max_keywords: int | None = Field(default=None, ge=1, le=200, alias="maxKeywords")
    include_negative_keywords: bool = Field(default=True, alias="includeNegativeKeywords")
    confidence_threshold: float | None = Field(default=None, ge=0, le=1, alias="confidenceThreshold")
    text_threshold_chars: int | None = Field(default=None, ge=1, le=10_000_000, alias="textThresholdChars")
    table: bool = Field(default=False, description="Uniform flat rows come back as a header and rows.")
    token_encoding: Literal["bytes", "o200k_base"] = Field(default="bytes", alias="tokenEncoding")
    pii_detection: bool = Field(default=True, alias="piiDetection")
    audit_sensitive_access: bool = Field(default=True, alias="auditSensitiveAccess")
    redact_patterns: list[Any] = Field(default_factory=list, alias="redactPatterns")
    allowlist: list[Any] = Field(default_factory=list)
    redaction_strategy: Literal["full", "partial", "remove"] = Field(default="full", alias="redactionStrategy")
    ab_test_id: str | None = Field(default=None, max_length=128, alias="abTestId")

    def sanitiser_settings(self) -> dict[str, Any]:
        """The sanitiser's part, under the names of its configuration."""
        return {
            "piiDetection": self.pii_detection,
            "auditSensitiveAccess": self.audit_sensitive_access,
            "redactPatterns": self.redact_patterns,
            "allowlist": self.allowlist,
            "redactionStrategy": self.redaction_strategy,
        }


class FilterArguments(BaseModel):
    """A tool's answer and what it was asked for."""

    model_config = ConfigDict(extra="forbid")

    tool: ToolIn = Field(description="The tool that answered.")
    arguments: dict[str, Any] = Field(default_factory=dict, description="What it was called with.")
    response: Any = Field(default=None, description="Its answer, any JSON, nested to at most 220 levels.")
    uploadId: str | None = Field(  # noqa: N815 - the document's spelling
        default=None,
        min_length=1,
        max_length=128,
        description="An upload in place of the response: a JSON array, or one JSON value a line.",
    )
    itemsPath: str = Field(  # noqa: N815
        default="", max_length=200, description="Where the array is in an uploaded object, such as `data.messages`."
    )
    question: str | None = Field(default=None, max_length=20_000, description="What the user asked.")
    intent: IntentIn | None = Field(default=None, description="What is wanted; otherwise read from the call.")
    config: ConfigIn = Field(default_factory=ConfigIn, description="How to filter and what to redact.")
    explain: Literal["brief", "full"] | bool = Field(
        default="brief", description="`full` tells all that was removed inline; the handle has it anyway."
    )


class RemovedItemOut(BaseModel):
    """One thing that was removed."""

    item: AnyJson
    reason: str
    score: float
    threshold: float | None
    path: StorableText | None = Field(description="Where it was.")


class SizeOut(BaseModel):
    """Bytes of minified JSON."""

    before: int
    after: int


class TokensOut(BaseModel):
    """Estimated tokens."""

    before: int
    after: int
    encoding: str = Field(description="How they were estimated.")


class FilterMetadata(BaseModel):
    """The account of what was done."""

    model_config = ConfigDict(populate_by_name=True)

    original_item_count: int = Field(serialization_alias="originalItemCount")
    filtered_item_count: int = Field(serialization_alias="filteredItemCount")
    removed_items: list[RemovedItemOut] = Field(serialization_alias="removedItems")
    removed_by_reason: dict[str, int] = Field(serialization_alias="removedByReason")
    filter_strategy: str = Field(serialization_alias="filterStrategy")
    scoring_latency_ms: float = Field(serialization_alias="scoringLatencyMs")
    bytes: SizeOut
    tokens_estimate: TokensOut = Field(serialization_alias="tokensEstimate")


class FilterResult(BaseModel):
    """What is left of the answer."""

    data: AnyJson
    reduction: float = Field(description="Share taken out: of items, characters of text, bytes of an object.")
    metadata: FilterMetadata
    handle: str | None = Field(description="URI of what was cut, for 24 hours.")
    notice: str | None = Field(description="A sentence where something went wrong.")

    @classmethod
    def of(cls, answered: "Answered") -> "FilterResult":
        """`answered` as it goes out."""
        result = answered.result
        return cls(
            data=result.data,
            reduction=result.reduction,
            metadata=FilterMetadata(
                original_item_count=result.total,
                filtered_item_count=result.kept,
                removed_items=[RemovedItemOut(**item) for item in result.removed_items],
                removed_by_reason=result.removed_by_reason,
                filter_strategy=result.strategy,
                scoring_latency_ms=result.scoring_latency_ms,
                bytes=SizeOut(before=result.bytes_before, after=result.bytes_after),
                tokens_estimate=TokensOut(**result.tokens),
            ),
            handle=answered.handle,
            notice=answered.notice,
        )


class AuditRowOut(BaseModel):
    """One redaction; never the value."""

    timestamp: str
    tool_name: str = Field(serialization_alias="toolName")
    pattern_matched: str = Field(serialization_alias="patternMatched")
    field_path: str = Field(serialization_alias="fieldPath")
    action_taken: str = Field(serialization_alias="actionTaken")


class AuditQuery(BaseModel):
    """Which rows of the audit log are asked for."""

    model_config = ConfigDict(extra="forbid")

    limit: int = Field(default=100, ge=1, le=1_000)
    cursor: int | None = Field(default=None, ge=1)


class AuditPage(BaseModel):
    """Rows of the audit log, newest first."""

    rows: list[AuditRowOut]
    next_cursor: str | None

    @classmethod
    def of(cls, rows: "list[AuditRow]", limit: int) -> "AuditPage":
        """A page of `rows`, which holds one more than the page where there is a next one."""
        shown = rows[:limit]
        return cls(
            rows=[
                AuditRowOut(
                    timestamp=format_timestamp(row.occurred_at),
                    tool_name=row.tool_name,
                    pattern_matched=row.pattern_matched,
                    field_path=row.field_path,
                    action_taken=row.action_taken,
                )
                for row in shown
            ],
            next_cursor=str(shown[-1].audit_id) if len(rows) > limit else None,
        )
