"""The pages of `context://filtered/{handle}{?cursor,query}`."""

from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field

from satchel.api.validation import validate
from satchel.timestamps import format_timestamp

if TYPE_CHECKING:
    from satchel.filtering.fetching import Fetched


class CutVariables(BaseModel):
    """Which page is asked for.

    Attributes:
        handle: The name of what was cut.
        cursor: Number of the page, from 0.
        query: Puts what answers to it first.
    """

    model_config = ConfigDict(frozen=True)

    handle: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    cursor: int = Field(default=0, ge=0, le=1_000_000)
    query: str | None = Field(default=None, max_length=2_000)

    @classmethod
    def read(cls, variables: dict[str, str]) -> Self:
        """The page that a URI's variables name.

        Raises:
            InvalidInputError: One of them is wrong.
        """
        return validate(cls, variables)


class CutPage(BaseModel):
    """A page of what was cut, best first.

    Attributes:
        items: What was cut, with its path, the reason and its score.
        total: How many things were cut.
        expires_at: When they are forgotten.
        next: The URI of the next page; None on the last.
    """

    items: list[dict[str, Any]]
    total: int
    expires_at: str
    next: str | None

    @classmethod
    def of(cls, asked: CutVariables, page: "Fetched") -> Self:
        """The page that was fetched."""
        query = {"cursor": asked.cursor + 1, **({"query": asked.query} if asked.query else {})}
        return cls(
            items=list(page.items),
            total=page.total,
            expires_at=format_timestamp(page.expires_at),
            next=f"context://filtered/{asked.handle}?{urlencode(query)}" if page.has_more else None,
        )
