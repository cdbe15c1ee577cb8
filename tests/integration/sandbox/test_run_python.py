import json
from pathlib import Path

import pytest

from satchel.sandbox.model import Limits
from satchel.sandbox.remote import RemoteEngine, run_job
from tests.conftest import direct


def event(name):
    return json.loads(Path(f"events/{name}.json").read_text(encoding="utf-8"))


def test_the_golden_event_of_run_python_answers(in_wasm, invoke):
    answer = invoke("run_python", event("run_python"))["structuredContent"]
    assert (answer["status"], answer["stdout"], answer["value"]) == ("ok", "5 days\n", 8.6904)
    assert "webassembly" in answer["layers"]


def test_the_golden_event_of_the_sandbox_function_answers(in_wasm, invoke):
    answer = invoke("sandbox", event("sandbox"))
    assert (answer["status"], answer["stdout"], answer["value"]) == ("ok", "42\n", [2, 4, 6])


def test_running_needs_its_scope(in_wasm, invoke):
    refused = invoke("run_python", direct(arguments={"code": "1"}))
    assert refused["error"]["code"] == "forbidden"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "code"),
        ({"code": ""}, "code"),
        ({"code": "1", "timeout_s": 0}, "timeout_s"),
        ({"code": "1", "timeout_s": 21}, "timeout_s"),
        ({"code": "1", "inputs": [1]}, "inputs"),
        ({"code": "1" * 200_001}, "code"),
    ],
)
def test_wrong_arguments_are_told_by_field(arguments, field, in_wasm, invoke):
    refused = invoke("run_python", direct(scopes=["sandbox:run"], arguments=arguments))
    assert refused["error"]["field"] == field


def test_what_a_program_gives_back_passes_the_redactor(in_wasm, invoke):
    # Put together at run time: no scanner finds a key in this file, and the program's text holds none either.
    code = "key = 'ghp_' + inputs['half'] * 2\nprint(key)\nimport sys\nprint(key, file=sys.stderr)\n{'token': [key, 2]}"
    answer = invoke(
        "run_python", direct(scopes=["sandbox:run"], arguments={"code": code, "inputs": {"half": "aB3dE6gH9jK2mN5pQ8"}})
    )
    shown = answer["structuredContent"]
    assert "ghp_aB3" not in json.dumps(answer)
    assert (shown["stdout"], shown["stderr"]) == ("[REDACTED]\n", "[REDACTED]\n")
    assert shown["value"]["token"][1] == 2


def test_the_remote_engine_carries_pictures_and_limits_through_json(wasm):
    engine = RemoteEngine(lambda job: json.loads(json.dumps(run_job(json.loads(json.dumps(job)), wasm))))
    code = "import matplotlib.pyplot as p\np.plot([1])\nprint('x' * 99)"
    result = engine.run(code, {}, Limits(time_s=20, output_bytes=200))
    assert result.status == "ok"
    assert result.artefacts[0].data.startswith(b"\x89PNG")
    assert engine.run("print('x' * 999)", {}, Limits(output_bytes=10)).stdout == "x" * 10
