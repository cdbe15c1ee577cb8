"""The sandbox in a function of its own: what goes to it, what comes back, and the engine that asks it.

The function has no network, no secrets and no store (`template.yaml`, `SandboxFunction`); whoever needs a program run
hands it the data. Programs of different users never share its execution environment (`TenancyConfig`).
"""

import base64
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from satchel.errors import TooLargeError, UnavailableError
from satchel.sandbox.model import MIB, Artefact, Limits, SandboxEngine, SandboxResult

# An invocation carries 6 MB each way; what is longer than this is compressed, and never unfolds to more than this.
_PLAIN_CHARS = 100_000
_MOST_BYTES = 128 * MIB


def run_job(job: Mapping[str, Any], engine: SandboxEngine) -> dict[str, Any]:
    """Run a job that `job_of` wrote, and return its result as JSON data, or why it cannot be run now."""
    job = unpack(job)
    try:
        result = engine.run(job["code"], job["inputs"], Limits(**job["limits"]))
    except UnavailableError as error:
        # What a function raises reaches its caller as a failure without a reason.
        return {"unavailable": {"message": error.message, "retry_after_s": error.retry_after_s}}
    return pack(result_to_json(result))


def pack(data: Mapping[str, Any]) -> dict[str, Any]:
    """`data`, or, where that is long, `{"zlib": its JSON, compressed, in base64}`."""
    text = json.dumps(data, separators=(",", ":"))
    if len(text) <= _PLAIN_CHARS:
        return dict(data)
    return {"zlib": base64.b64encode(zlib.compress(text.encode(), 3)).decode()}


def unpack(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was packed.

    Raises:
        TooLargeError: It would be over 128 MiB.
    """
    if "zlib" not in data:
        return data
    unfolding = zlib.decompressobj()
    text = unfolding.decompress(base64.b64decode(data["zlib"]), _MOST_BYTES)
    if unfolding.unconsumed_tail:
        raise TooLargeError("the sandbox's answer is too large")
    return json.loads(text)


def job_of(code: str, inputs: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    """A run as JSON data."""
    return {"code": code, "inputs": inputs, "limits": asdict(limits)}


def result_to_json(result: SandboxResult) -> dict[str, Any]:
    """A result as JSON data."""
    artefacts = [{"name": a.name, "base64": base64.b64encode(a.data).decode()} for a in result.artefacts]
    return asdict(result) | {"artefacts": artefacts}


def result_from_json(data: Mapping[str, Any]) -> SandboxResult:
    """The result that `result_to_json` wrote."""
    return SandboxResult(
        status=data["status"],
        stdout=data["stdout"],
        stderr=data["stderr"],
        value=data["value"],
        artefacts=tuple(Artefact(item["name"], base64.b64decode(item["base64"])) for item in data["artefacts"]),
        truncated=tuple(data["truncated"]),
        layers=tuple(data["layers"]),
        duration_ms=data["duration_ms"],
    )


class RemoteEngine:
    """Asks the sandbox function.

    Args:
        invoke: Sends a job to the function and returns its answer; it raises what makes that impossible.
    """

    name = "remote"

    def __init__(self, invoke: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
        self._invoke = invoke

    def run(self, code: str, inputs: Mapping[str, Any], limits: Limits) -> SandboxResult:
        """See `SandboxEngine.run`."""
        answer = self._invoke(pack(job_of(code, inputs, limits)))
        if "unavailable" in answer:
            raise UnavailableError(**answer["unavailable"])
        return result_from_json(unpack(answer))

    def close(self) -> None:
        """Nothing is kept here."""
