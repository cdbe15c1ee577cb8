"""Where a tool's answer goes that is too large for a request."""

from typing import Self

from pydantic import BaseModel, Field

from satchel.objects.port import LINK_S


class ResponseUpload(BaseModel):
    """An upload's id and link."""

    uploadId: str = Field(description="To be sent in place of `response`.")  # noqa: N815 - the document's spelling
    uploadUrl: str = Field(description="Takes the answer, JSON or one JSON value a line, by one PUT.")  # noqa: N815
    expiresInSeconds: int  # noqa: N815

    @classmethod
    def of(cls, upload_id: str, link: str) -> Self:
        """The answer for an upload."""
        return cls(uploadId=upload_id, uploadUrl=link, expiresInSeconds=LINK_S)
