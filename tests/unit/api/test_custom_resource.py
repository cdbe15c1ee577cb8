import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from satchel.api.custom_resource import custom_resource
from tests.conftest import LambdaTestContext


@dataclass
class CloudFormation:
    """Hears the answers that are PUT to a presigned URL."""

    url: str = ""
    heard: list[dict] = field(default_factory=list)
    content_types: list[str | None] = field(default_factory=list)

    def request(self, kind: str) -> dict:
        return {
            "RequestType": kind,
            "ResponseURL": self.url,
            "StackId": "arn:aws:cloudformation:eu-central-1:1:stack/satchel/1",
            "RequestId": "unique",
            "LogicalResourceId": "DatabaseSchema",
            "ResourceType": "Custom::DatabaseSchema",
            "ResourceProperties": {"Code": "arn:aws:lambda:eu-central-1:1:layer:satchel-common:1"},
        }


@pytest.fixture
def cloudformation() -> Iterator[CloudFormation]:
    heard = CloudFormation()

    class Answering(BaseHTTPRequestHandler):
        def do_PUT(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            heard.heard.append(json.loads(body))
            heard.content_types.append(self.headers["Content-Type"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        heard.url = f"http://127.0.0.1:{server.server_port}/answer?X-Amz-Signature=secret"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield heard
        server.shutdown()
        thread.join()


def handler_of(function):
    return custom_resource("database_migrator", safe_errors=(LookupError,))(function)


def test_success_is_told_with_the_facts_and_a_name_that_never_changes(cloudformation):
    handler_of(lambda: {"Applied": "0001_foundation"})(cloudformation.request("Create"), LambdaTestContext())
    assert cloudformation.heard == [
        {
            "Status": "SUCCESS",
            "Data": {"Applied": "0001_foundation"},
            "PhysicalResourceId": "database_migrator",
            "StackId": "arn:aws:cloudformation:eu-central-1:1:stack/satchel/1",
            "RequestId": "unique",
            "LogicalResourceId": "DatabaseSchema",
        }
    ]
    assert cloudformation.content_types == [""]


def test_delete_succeeds_without_doing_anything(cloudformation):
    def never() -> dict[str, str]:
        raise AssertionError

    handler_of(never)(cloudformation.request("Delete"), LambdaTestContext())
    assert cloudformation.heard[0]["Status"] == "SUCCESS"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (LookupError("migration 0001 was changed"), "migration 0001 was changed"),
        (LookupError("long " * 1000), ("long " * 1000)[:500]),
        (ValueError("password=hunter2"), "ValueError; the log of database_migrator says more"),
    ],
)
def test_a_failure_is_told_at_once_and_only_in_words_that_are_safe(cloudformation, caplog, error, reason):
    def fail() -> dict[str, str]:
        raise error

    handler_of(fail)(cloudformation.request("Update"), LambdaTestContext())
    assert (cloudformation.heard[0]["Status"], cloudformation.heard[0]["Reason"]) == ("FAILED", reason)
    logged = repr([vars(record) for record in caplog.records])
    assert "hunter2" not in logged
    assert "X-Amz-Signature" not in logged


def test_without_a_response_url_the_answer_is_the_result():
    answer = handler_of(lambda: {"Applied": ""})({"RequestType": "Update"}, LambdaTestContext())
    assert answer == {"Status": "SUCCESS", "Data": {"Applied": ""}}
