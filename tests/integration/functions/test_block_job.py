"""A session that is uploaded: its functions on a folder and the real store, and what can be wrong with it."""

import json
from io import BytesIO
from urllib.parse import parse_qs, urlsplit

import pytest

from satchel import objects_wiring
from satchel.api.mcp.functions import LambdaFunctions
from satchel.objects.port import object_key
from tests.conftest import direct, https

UPLOAD = {"rawPath": "/v1/session-blocks:upload"}
START = {"rawPath": "/v1/session-blocks:start"}
SESSION = {"sessionId": "s", "analysisMode": "FULL", "existingBlocks": [], "options": {}}
LINE = {"messageId": "m", "role": "user", "content": "왜 안 되지? 🤔", "timestamp": "2025-01-01T10:00:00Z"}


@pytest.fixture
def queued(monkeypatch, tmp_path):
    """What was handed to which worker."""
    for name, value in (("FOLDER", str(tmp_path)), ("URL", "http://localhost/local/objects"), ("KEY", "k")):
        monkeypatch.setenv(f"SATCHEL_OBJECTS_{name}", value)
    sent = []
    monkeypatch.setattr(LambdaFunctions, "send", lambda _self, function, event: sent.append((function, event)))
    return sent


def uploaded(invoke, *lines):
    """The id of an upload, which was sent by its link."""
    told = json.loads(invoke("blocks_upload", https({}, **UPLOAD))["body"])
    (key,) = parse_qs(urlsplit(told["uploadUrl"]).query)["key"]
    assert key == object_key("alice", "uploads", told["uploadId"], "messages")
    objects_wiring.objects().write(key, BytesIO("\n".join(map(json.dumps, lines)).encode()))
    return told["uploadId"]


def start(invoke, upload_id, user="alice", **changes):
    answer = invoke("blocks_upload", https({"uploadId": upload_id, **SESSION, **changes}, user_id=user, **START))
    return answer["statusCode"], json.loads(answer["body"])


def read(invoke, job_id, user="alice"):
    answer = invoke("job", direct(user, resource=f"context://job/{job_id}"))
    return json.loads(answer["contents"][0]["text"]) if "contents" in answer else answer["error"]["code"]


def test_an_upload_becomes_a_result_and_the_worker_is_handed_ids_alone(invoke, queued):
    status, job = start(invoke, uploaded(invoke, LINE))
    assert (status, job["status"]) == (202, "queued")
    event = {"user_id": "alice", "job_id": job["job_id"]}
    assert queued == [("blocks_worker", event)]
    assert invoke("blocks_worker", event) == {"done": 1}
    assert invoke("blocks_worker", event) == {"done": 0}
    told = read(invoke, job["job_id"])
    assert (told["status"], told["kind"], told["error"]) == ("done", "session_blocks", None)
    assert told["result"]["stats"]["numMessages"] == 1
    assert told["result"]["url"].startswith("http://localhost/local/objects?")
    assert "file" not in told["result"]
    assert read(invoke, job["job_id"], "bob") == "not_found"


def test_the_same_request_under_way_is_the_same_job(invoke, queued):
    upload_id = uploaded(invoke, LINE)
    assert start(invoke, upload_id) == start(invoke, upload_id)
    assert start(invoke, upload_id, options={"timeGapMode": "soft"}) != start(invoke, upload_id)


def test_the_ids_of_existing_blocks_are_stepped_over(invoke, queued, tmp_path):
    existing = [{"blockId": "blk_s_1", "messageIds": ["x"]}]
    start(invoke, uploaded(invoke, LINE, {**LINE, "messageId": "n"}), existingBlocks=existing)
    invoke("blocks_worker", queued[0][1])
    (file,) = tmp_path.rglob("*.json")
    assert json.loads(file.read_text("utf-8"))["messageToBlock"] == {"m": "blk_s_2", "n": "blk_s_2"}


def test_a_fault_of_the_file_fails_the_job_with_the_line(invoke, queued):
    _, job = start(invoke, uploaded(invoke, LINE, {**LINE, "timestamp": "yesterday"}))
    assert invoke("blocks_worker", queued[0][1]) == {"done": 1}
    told = read(invoke, job["job_id"])
    assert (told["status"], told["result"]) == ("failed", None)
    assert (told["error"]["code"], told["error"]["field"]) == ("invalid_input", "messages[1].timestamp")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"analysisMode": "INCREMENTAL"}, "analysisMode"),
        ({"options": None}, "options"),
        ({"options": {"explain": True}}, "options"),
        ({"sessionId": ""}, "sessionId"),
        ({"uploadId": "unknown"}, "uploadId"),
        ({"uploadId": "../../alice"}, "uploadId"),
        ({"user": "bob"}, "uploadId"),
    ],
)
def test_what_cannot_be_cut_is_refused(invoke, queued, changes, field):
    given = {"upload_id": uploaded(invoke, LINE), **changes}
    given["upload_id"] = given.pop("uploadId", given["upload_id"])
    status, told = start(invoke, given.pop("upload_id"), **given)
    assert (status, told["error"]["field"], queued) == (400, field, [])


def test_too_much_is_refused(invoke, queued, monkeypatch):
    monkeypatch.setattr("satchel.blocks_wiring.MAX_BYTES", 10)
    assert start(invoke, uploaded(invoke, LINE))[0] == 413


def test_where_no_place_is_configured_uploads_are_unavailable(invoke):
    assert invoke("blocks_upload", https({}, **UPLOAD))["statusCode"] == 503
