"""`run_python`: run a program in the sandbox."""

from satchel import program_wiring
from satchel.api.handler import Call, tool
from satchel.api.wire.sandbox import RunPythonArguments, RunPythonResult
from satchel.sandbox.running import run_python


@tool("run_python", RunPythonArguments, scope="sandbox:run")
def handler(arguments: RunPythonArguments, call: Call) -> RunPythonResult:
    """Run the program; see `satchel.sandbox.running`."""
    result = run_python(
        arguments.code,
        inputs=arguments.inputs,
        timeout_s=arguments.timeout_s,
        engine=program_wiring.sandbox_engine(call.user_id),
        redact=program_wiring.redact,
    )
    return RunPythonResult.of(result)
