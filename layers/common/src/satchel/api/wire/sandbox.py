"""What `run_python` takes and answers, as in `docs/api.md`."""

import base64
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from satchel.api.wire.types import StorableText
from satchel.sandbox.model import Artefact, SandboxResult, Status
from satchel.sandbox.running import DEFAULT_TIMEOUT_S, MAX_TIMEOUT_S


class RunPythonArguments(BaseModel):
    """A program and what it works on."""

    model_config = ConfigDict(extra="forbid")

    code: StorableText = Field(
        min_length=1, description="A Python program. The value of its last expression comes back as `value`."
    )
    inputs: dict[str, Any] = Field(
        default_factory=dict, description="JSON data that the program finds under the name `inputs`."
    )
    timeout_s: float = Field(
        default=DEFAULT_TIMEOUT_S, gt=0, le=MAX_TIMEOUT_S, description="Wall-clock limit in seconds."
    )


class ArtefactOut(BaseModel):
    """A PNG picture."""

    name: str
    mime_type: str = "image/png"
    base64: str

    @classmethod
    def of(cls, artefact: Artefact) -> "ArtefactOut":
        """`artefact` as it goes out."""
        return cls(name=artefact.name, base64=base64.b64encode(artefact.data).decode())


class RunPythonResult(BaseModel):
    """How the program ended."""

    status: Status = Field(description="`ok`, `error` (see `stderr`), a limit's name, or `crashed`.")
    stdout: str
    stderr: str
    value: Any = Field(description="The value of the last expression as JSON, or null.")
    artefacts: list[ArtefactOut] = Field(description="Pictures: open matplotlib figures and *.png it wrote.")
    truncated: list[str] = Field(description="Which of stdout, stderr, value, artefacts were cut.")
    layers: list[str] = Field(description="The walls that stood around the program.")
    duration_ms: int

    @classmethod
    def of(cls, result: SandboxResult) -> "RunPythonResult":
        """`result` as it goes out."""
        return cls(
            status=result.status,
            stdout=result.stdout,
            stderr=result.stderr,
            value=result.value,
            artefacts=[ArtefactOut.of(artefact) for artefact in result.artefacts],
            truncated=list(result.truncated),
            layers=list(result.layers),
            duration_ms=result.duration_ms,
        )
