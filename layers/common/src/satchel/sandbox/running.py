"""`run_python`: a program of the user's own, run behind the walls."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from satchel.errors import TooLargeError
from satchel.sandbox.model import Limits, SandboxEngine, SandboxResult

MAX_CODE_CHARS = 200_000
MAX_TIMEOUT_S = 20.0
DEFAULT_TIMEOUT_S = 10.0


def run_python(
    code: str,
    *,
    inputs: Mapping[str, Any],
    timeout_s: float,
    engine: SandboxEngine,
    redact: Callable[[dict[str, Any]], dict[str, Any]],
) -> SandboxResult:
    """Run a program and return its result with secrets taken out.

    Args:
        code: The program.
        inputs: JSON data it finds as `inputs`.
        timeout_s: Its wall-clock limit in seconds.
        engine: Where it runs.
        redact: Takes secrets out of JSON data.

    Raises:
        TooLargeError: The program is longer than 200,000 characters.
        UnavailableError: No engine can run here.
    """
    if len(code) > MAX_CODE_CHARS:
        raise TooLargeError(f"code is longer than {MAX_CODE_CHARS} characters", field="code")
    result = engine.run(code, inputs, Limits(time_s=timeout_s))
    clean = redact({"stdout": result.stdout, "stderr": result.stderr, "value": result.value})
    return replace(result, **clean)
