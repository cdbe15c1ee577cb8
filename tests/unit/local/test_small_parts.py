import io
import json
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from satchel.local import template_reader
from satchel.local.data_folder import DataFolder, DataFolderInUseError, RunningStack
from satchel.local.hot_reload import affected
from satchel.local.invocation import Invocation
from satchel.local.log_stream import LogStream
from satchel.local.secret_file import secret_in
from satchel.local.server import PortInUseError, listen
from satchel.local.socket_events import route_of

PROJECT = Path(__file__).parents[2] / "fixtures/local_stack"
NOW = datetime(2025, 1, 15, 10, 30, tzinfo=UTC)


def logged(*lines: str) -> list[dict[str, object]]:
    sink = io.StringIO()
    stream = LogStream(sink, lambda: NOW)
    for line in lines:
        stream.line("stack-f", "r-1", line)
    return [json.loads(line) for line in sink.getvalue().splitlines()]


def test_a_printed_line_keeps_its_fields_if_it_is_an_object_and_is_a_message_otherwise():
    plain, structured, broken = logged("안녕", '{"level": "INFO", "message": "m"}', "{not json")
    assert plain == {
        "time": "2025-01-15T10:30:00.000Z",
        "message": "안녕",
        "type": "function",
        "function": "stack-f",
        "request_id": "r-1",
    }
    assert structured["level"] == "INFO"
    assert structured["function"] == "stack-f"
    assert broken["message"] == "{not json"


def test_a_traceback_of_the_runtime_client_is_one_entry_with_its_lines():
    assert logged("[ERROR] E\rTraceback\r  at x")[0]["message"] == "[ERROR] E\nTraceback\n  at x"


def test_a_changed_file_concerns_the_functions_whose_code_or_layer_it_is_in():
    functions = template_reader.read(PROJECT / "template.yaml", stack_name="s", parameters={"Issuer": "i"}).functions
    assert affected(functions, [PROJECT / "functions/broken/app.py"]) == {"BrokenFunction"}
    assert affected(functions, [PROJECT / "layers/shared/src/shared_words/__init__.py"]) == set(functions)
    assert affected(functions, [PROJECT / "README.md"]) == set()


def test_an_invocation_that_ends_badly_says_how_in_lambdas_words():
    invocation = Invocation("r-1", b"{}")
    endings = {
        invocation.exited(1): ("Runtime.ExitError", "RequestId: r-1 Error: Runtime exited with error: exit status 1"),
        invocation.exited(-11): (
            "Runtime.ExitError",
            "RequestId: r-1 Error: Runtime exited with error: signal: segmentation fault",
        ),
        invocation.exited(0): (
            "Runtime.ExitError",
            "RequestId: r-1 Error: Runtime exited without providing a reason",
        ),
        invocation.timed_out(3): ("Sandbox.Timedout", "RequestId: r-1 Error: Task timed out after 3.00 seconds"),
    }
    for outcome, (kind, text) in endings.items():
        assert outcome.error
        assert json.loads(outcome.payload) == {"errorType": kind, "errorMessage": text}


def test_the_log_tail_is_the_last_4_kib():
    invocation = Invocation("r-1", b"{}")
    invocation.add_log("x" * 5_000)
    invocation.add_log("end")
    tail = invocation.succeeded(b"1").log_tail
    assert len(tail) == 4_096
    assert tail.endswith(b"end\n")


def test_one_process_at_a_time_has_a_data_folder(tmp_path):
    first = DataFolder(tmp_path / "data")
    first.lock()
    note = RunningStack(1, "http://127.0.0.1:3000", "http://127.0.0.1:1", "key")
    first.publish(note)
    assert DataFolder(tmp_path / "data").running() == note
    with pytest.raises(DataFolderInUseError, match="is in use by process"):
        DataFolder(tmp_path / "data").lock()
    first.release()
    assert DataFolder(tmp_path / "data").running() is None
    assert DataFolder(tmp_path / "data").last_served() == note


def test_what_the_folder_notes_is_for_its_owner_alone(tmp_path):
    folder = DataFolder(tmp_path / "data")
    folder.lock()
    folder.publish(replace(RunningStack(1, "u", "i", "key"), pid=2))
    assert (tmp_path / "data/stack.json").stat().st_mode & 0o077 == 0
    folder.release()


@pytest.mark.parametrize("note", ["", "{", "[]", '{"pid": 1, "of_another_release": true}'])
def test_a_note_that_cannot_be_read_is_none(tmp_path, note):
    (tmp_path / "stack.json").write_text(note)
    assert DataFolder(tmp_path).last_served() is None


def test_a_secret_is_whole_or_not_there_and_the_same_for_all_who_ask(tmp_path):
    file = tmp_path / "folder/secret"
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: secret_in(file), range(8)))
    assert found == {secret_in(file)}
    assert len(secret_in(file)) == 64
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["secret"]


def test_a_port_that_is_taken_is_named():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortInUseError, match=f"Port {port} on 127.0.0.1 is in use"):
            listen(port)


@pytest.mark.parametrize(
    "body", ['{"type":' + "[" * 100_000, "[" * 100_000, "{", "null", '{"type": 5}', '{"type": "$connect"}']
)
def test_a_frame_that_names_no_route_goes_to_the_default(body):
    assert route_of(body, frozenset({"$connect", "$default", "sendMessage"})) == "$default"
