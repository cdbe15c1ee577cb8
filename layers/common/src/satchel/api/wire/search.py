"""What `search_conversation` takes and answers, as in `docs/api.md`."""

from pydantic import BaseModel, ConfigDict, Field

from satchel.api.wire.memory import MessageOut
from satchel.api.wire.types import Identifier, StorableText, Timestamp
from satchel.memory.hits import DEFAULT_LIMIT, DEFAULT_MIN_SCORE, MAX_LIMIT, Hit, SearchResult
from satchel.memory.messages import Role


class SearchConversationArguments(BaseModel):
    """What to look for."""

    model_config = ConfigDict(extra="forbid")

    query: StorableText = Field(
        min_length=1, description="What is asked, in any language, as a person would. `*` lists messages, newest first."
    )
    limit: int = Field(default=DEFAULT_LIMIT, ge=1, le=MAX_LIMIT, strict=True, description="Most hits to return.")
    min_score: float = Field(
        default=DEFAULT_MIN_SCORE,
        ge=0,
        le=1,
        description="Leave out hits that answer the query with less than this probability.",
    )
    since: Timestamp | None = Field(default=None, description="Only messages said at or after this time.")
    until: Timestamp | None = Field(default=None, description="Only messages said before this time.")
    session_id: Identifier | None = Field(default=None, description="Only this conversation.")
    role: Role | None = Field(default=None, description="Only what this role said.")
    neighbours: int = Field(
        default=0, ge=0, le=10, strict=True, description="Messages to return on each side of a hit."
    )
    max_tokens: int | None = Field(
        default=None, ge=1, le=100_000, strict=True, description="Budget for the texts of the hits, in tokens."
    )
    cursor: str | None = Field(
        default=None, max_length=1_000, description="`next_cursor` of the page before, all else unchanged."
    )


class Matched(BaseModel):
    """Why a message was found."""

    words: list[str] = Field(description="Words of the query that it contains.")
    features: dict[str, float] = Field(description="What each feature added to the score, in log-odds.")


class HitOut(BaseModel):
    """One message found."""

    message: MessageOut
    score: float = Field(description="Probability that the message answers the query.")
    similarity: float = Field(description="Likeness of meaning; comparable within one encoder only.")
    matched: Matched
    neighbours: list[MessageOut] = Field(description="Messages around it, in order; empty unless asked for.")

    @classmethod
    def of(cls, hit: Hit) -> "HitOut":
        """`hit` as it goes out."""
        return cls(
            message=MessageOut.of(hit.message),
            score=hit.score,
            similarity=hit.similarity,
            matched=Matched(words=list(hit.words), features=hit.contributions or {}),
            neighbours=[MessageOut.of(message) for message in hit.neighbours],
        )


class SearchConversationResult(BaseModel):
    """What was found, best first."""

    hits: list[HitOut]
    below_min_score: int = Field(description="How many more hits there were with less than `min_score`.")
    next_cursor: str | None = Field(description="Where the next page begins; null on the last.")

    @classmethod
    def of(cls, found: SearchResult) -> "SearchConversationResult":
        """`found` as it goes out."""
        return cls(
            hits=[HitOut.of(hit) for hit in found.hits],
            below_min_score=found.below_min_score,
            next_cursor=found.next_cursor,
        )
