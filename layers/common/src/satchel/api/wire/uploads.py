"""Sessions that are too large for a request: where they go, and how cutting one is asked for."""

import hashlib
import json
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, field_validator

from satchel.api.wire.blocks import ExistingBlock, Id, OptionsIn
from satchel.jobs.jobs import Job
from satchel.objects.port import LINK_S


class UploadResponse(BaseModel):
    """Where an upload goes, and what it is called."""

    uploadId: str  # noqa: N815 - the family of the batch document's names
    uploadUrl: str = Field(description="Takes the messages, one JSON object a line, by one PUT.")  # noqa: N815
    expiresInSeconds: int  # noqa: N815

    @classmethod
    def of(cls, upload_id: str, link: str) -> Self:
        """The answer for an upload."""
        return cls(uploadId=upload_id, uploadUrl=link, expiresInSeconds=LINK_S)


class StartRequest(BaseModel):
    """The batch request with an upload in place of messages. The session is cut as a whole."""

    uploadId: Annotated[str, Field(min_length=1, max_length=128)]  # noqa: N815
    sessionId: Id  # noqa: N815
    analysisMode: Literal["FULL"]  # noqa: N815
    existingBlocks: list[ExistingBlock] = Field(description="Reserve their ids.")  # noqa: N815
    options: OptionsIn

    @field_validator("options")
    @classmethod
    def _unexplained(cls, options: OptionsIn) -> OptionsIn:
        if options.explain:
            raise ValueError("explanations are for sessions that are sent in a request")
        return options

    def as_json(self) -> dict[str, Any]:
        """The request as it is kept; of the existing blocks their ids."""
        kept = self.model_dump(mode="json", exclude={"existingBlocks"})
        return {**kept, "existingBlocks": [{"blockId": each, "messageIds": []} for each in sorted(self.reserved())]}

    def digest(self) -> str:
        """Equal for equal requests."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()

    def reserved(self) -> frozenset[str]:
        """Block ids that are taken."""
        return frozenset(block.blockId for block in self.existingBlocks)


class StartResponse(BaseModel):
    """The job that cuts an upload."""

    job_id: str
    status: Literal["queued", "running", "done", "failed"]

    @classmethod
    def of(cls, job: Job) -> Self:
        """The answer for a job."""
        return cls(job_id=job.job_id, status=job.status)
