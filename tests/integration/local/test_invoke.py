"""Functions invoked through boto3, each in worker processes under the real runtime client."""

import base64
import concurrent.futures
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import psutil
import pytest
from botocore.exceptions import ClientError


def wait_until(condition: Callable[[], Any], seconds: float = 15) -> Any:
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.02)
    return value


def test_an_event_reaches_the_handler_and_its_answer_comes_back(running):
    answer, response = running.invoke("probes-probe", {"text": "안녕 🙂"})
    assert answer["event"] == {"text": "안녕 🙂"}
    assert answer["greeting"] == "안녕"
    assert answer["request_id"] == response["ResponseMetadata"]["RequestId"]
    assert answer["arn"].endswith(":function:probes-probe")
    assert 0 < answer["remaining_ms"] <= 5000
    assert response["ExecutedVersion"] == "$LATEST"
    assert "FunctionError" not in response


@pytest.mark.parametrize(
    "name",
    [
        "ProbeFunction",
        "probes-probe",
        "arn:aws:lambda:us-east-1:000000000000:function:probes-probe",
        "probes-probe:live",
    ],
)
def test_a_function_answers_to_each_of_its_names(running, name):
    assert running.invoke(name, {})[0]["greeting"] == "안녕"


def test_two_workers_take_turns_so_that_hidden_state_shows(running):
    wait_until(lambda: len({running.invoke("probes-probe", {})[0]["pid"] for _ in range(4)}) >= 2)


def test_parallel_calls_run_at_the_same_time_up_to_the_maximum_and_the_rest_wait(running):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(running.invoke, "probes-probe", {"action": "sleep", "seconds": 0.1}) for _ in range(8)]
        assert [call.result()[0] for call in calls] == ["slept"] * 8


def test_the_environment_is_lambdas_and_the_templates_and_nothing_of_the_developers(running, monkeypatch):
    monkeypatch.setenv("PRIVATE_THING", "mine")
    environment, _ = running.invoke("probes-probe", {"action": "environment"})
    assert environment["STACK"] == "probes"
    assert environment["SECRET"] == "SomeSecret"
    assert environment["OWN"] == "a-us-east-1"
    assert environment["MODE"] == "stable"
    assert environment["AWS_LAMBDA_FUNCTION_NAME"] == "probes-probe"
    assert environment["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"] == "256"
    assert environment["AWS_ENDPOINT_URL_LAMBDA"] == running.stack.invoke_url
    assert environment["LAMBDA_TASK_ROOT"] == str(running.project / "functions/probe")
    assert environment["TZ"] == ":UTC"
    assert "PRIVATE_THING" not in environment


def test_an_exception_is_a_function_error_with_its_type_message_and_trace(running):
    answer, response = running.invoke("probes-probe", {"action": "fail"})
    assert response["StatusCode"] == 200
    assert response["FunctionError"] == "Unhandled"
    assert answer["errorType"] == "ValueError"
    assert answer["errorMessage"] == "the handler says no 🙅"
    assert any("_fail" in line for line in answer["stackTrace"])


def test_a_function_over_its_time_is_killed_and_the_next_call_gets_a_new_process(running):
    answer, response = running.invoke("probes-quick", {"action": "sleep", "seconds": 30})
    assert response["FunctionError"] == "Unhandled"
    assert answer["errorType"] == "Sandbox.Timedout"
    assert answer["errorMessage"].endswith("Task timed out after 1.00 seconds")
    assert running.invoke("probes-quick", {})[0]["calls"] == 1


def test_a_crash_belongs_to_its_own_invocation(running):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        other = pool.submit(running.invoke, "probes-probe", {"action": "sleep", "seconds": 0.5})
        answer, response = running.invoke("probes-probe", {"action": "exit", "code": 3})
        assert other.result()[0] == "slept"
    assert response["FunctionError"] == "Unhandled"
    assert answer["errorType"] == "Runtime.ExitError"
    assert answer["errorMessage"].endswith("Error: Runtime exited with error: exit status 3")
    assert running.invoke("probes-probe", {})[0]["calls"] >= 1


def test_a_function_over_its_memory_is_killed_as_lambda_does(running):
    answer, response = running.invoke("SmallFunction", {"action": "eat"})
    assert response["FunctionError"] == "Unhandled"
    assert answer["errorType"] == "Runtime.OutOfMemory"
    assert answer["errorMessage"].endswith("Runtime exited with error: signal: killed")


def test_a_module_that_does_not_load_fails_every_call_with_its_own_error(running):
    for _ in range(2):
        answer, response = running.invoke("BrokenFunction", {})
        assert response["FunctionError"] == "Unhandled"
        assert answer["errorType"] == "RuntimeError"
        assert answer["errorMessage"] == "the module does not load"
    assert "the module does not load" in running.stack.init_errors()["probes-BrokenFunction"]


def test_a_function_without_its_folder_says_so(running):
    answer, response = running.invoke("AbsentFunction", {})
    assert response["FunctionError"] == "Unhandled"
    assert answer["errorType"] == "Runtime.InvalidWorkingDir"
    assert str(running.project / "functions/absent") in answer["errorMessage"]


def test_many_callers_of_a_broken_function_all_get_an_answer(running):
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: running.invoke("BrokenFunction", {})[0], range(10)))
    assert {answer["errorType"] for answer in answers} == {"RuntimeError"}


def test_a_response_of_the_limit_passes_and_one_byte_more_is_an_error(running):
    answer, response = running.invoke("probes-probe", {"action": "big", "bytes": 6_291_556 - 2})
    assert "FunctionError" not in response
    assert len(answer) == 6_291_554
    answer, response = running.invoke("probes-probe", {"action": "big", "bytes": 6_291_556 - 1})
    assert response["FunctionError"] == "Unhandled"
    assert answer["errorType"] == "Function.ResponseSizeTooLarge"
    assert running.invoke("probes-probe", {})[0]["greeting"] == "안녕"


def test_a_request_over_the_limit_is_refused(running):
    with pytest.raises(ClientError) as refused:
        running.invoke("probes-probe", {"text": "x" * 6_291_456})
    assert refused.value.response["Error"]["Code"] == "RequestTooLargeException"
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 413


def test_a_payload_that_is_not_json_is_refused(running):
    with pytest.raises(ClientError) as refused:
        running.client().invoke(FunctionName="probes-probe", Payload=b"{no json")
    assert refused.value.response["Error"]["Code"] == "InvalidRequestContentException"


def test_an_unknown_function_is_not_found(running):
    with pytest.raises(ClientError) as missing:
        running.invoke("probes-nobody", {})
    assert missing.value.response["Error"]["Code"] == "ResourceNotFoundException"


def test_another_user_of_the_machine_cannot_invoke(running):
    stranger = boto3.client(
        "lambda",
        endpoint_url=running.stack.invoke_url,
        region_name="us-east-1",
        aws_access_key_id="somebody",
        aws_secret_access_key="else",
    )
    with pytest.raises(ClientError) as refused:
        stranger.invoke(FunctionName="probes-probe")
    assert refused.value.response["Error"]["Code"] == "UnrecognizedClientException"


def test_an_event_is_accepted_at_once_and_tried_three_times_with_one_request_id(running, tmp_path: Path):
    marks = tmp_path / "marks"
    _, response = running.invoke("probes-probe", {"action": "count", "file": str(marks)}, InvocationType="Event")
    assert response["StatusCode"] == 202
    wait_until(lambda: any(record["type"] == "event_dropped" for record in running.log_records()))
    tries = marks.read_text().split()
    assert len(tries) == 3
    assert set(tries) == {response["ResponseMetadata"]["RequestId"]}


def test_a_dry_run_runs_nothing(running):
    _, response = running.invoke("BrokenFunction", {}, InvocationType="DryRun")
    assert response["StatusCode"] == 204


def test_the_log_tail_and_the_log_stream_hold_what_the_function_printed(running):
    _, response = running.invoke("probes-probe", {"text": "여보세요"}, LogType="Tail")
    assert "said 여보세요" in base64.b64decode(response["LogResult"]).decode()
    request_id = response["ResponseMetadata"]["RequestId"]
    records = [record for record in running.log_records() if record.get("request_id") == request_id]
    assert {"function", "report"} == {record["type"] for record in records}
    assert all(record["function"] == "probes-probe" for record in records)


def test_a_container_image_runs_from_its_build_context(running):
    assert running.invoke("ContainerFunction", {})[0]["greeting"] == "안녕"


def test_changed_code_answers_the_next_call(serve):
    running = serve()
    assert running.invoke("probes-probe", {})[0]["greeting"] == "안녕"
    (running.project / "layers/shared/src/shared_words/__init__.py").write_text('GREETING = "changed"\n')
    wait_until(lambda: running.invoke("probes-probe", {})[0]["greeting"] == "changed")


def test_idle_workers_end_and_the_next_call_starts_one(serve):
    running = serve(reload=False, idle_s=0.4)
    pid = running.invoke("probes-probe", {})[0]["pid"]
    wait_until(lambda: not psutil.pid_exists(pid))
    assert running.invoke("probes-probe", {})[0]["pid"] != pid


def test_when_all_places_are_taken_an_idle_worker_makes_room(serve):
    running = serve(reload=False, max_workers=2)
    names = ["probes-probe", "probes-quick", "ContainerFunction", "SmallFunction"]
    for _ in range(2):
        for name in names:
            assert running.invoke(name, {})[0]["greeting"] == "안녕"
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda name: running.invoke(name, {})[0]["greeting"], names * 3))
    assert answers == ["안녕"] * 12


def test_a_call_right_after_a_time_out_never_meets_the_dying_process(running):
    for _ in range(3):
        running.invoke("probes-quick", {"action": "sleep", "seconds": 30})
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: running.invoke("probes-quick", {}), range(4)))
        assert not [answer for answer, response in answers if "FunctionError" in response]


def test_a_schedule_calls_its_function(serve):
    stack = serve(reload=False, schedules_after_s=0.0)

    def said() -> list[str]:
        return [record["function"] for record in stack.log_records() if str(record.get("message")).strip() == "said"]

    wait_until(said)
    assert said() == ["probes-probe"]
