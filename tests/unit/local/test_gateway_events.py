import base64
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.local.gateway_events import HttpRequest, claim_text, from_result, to_event
from satchel.local.routing import Match
from satchel.local.template import Route

MATCH = Match(Route("POST", "/x", "F"), {})


def event(body: bytes, content_type: str) -> dict[str, object]:
    headers = [("content-type", content_type), ("host", "api.example")]
    request = HttpRequest("POST", "/x", "", headers, body, "127.0.0.1")
    return to_event(request, MATCH, request_id="r", now=datetime(2025, 1, 15, 10, 30, tzinfo=UTC))


@given(st.binary(min_size=1), st.sampled_from(["application/json", "text/plain; charset=utf-8", "image/png", ""]))
def test_every_body_reaches_the_function_whole(body, content_type):
    made = event(body, content_type)
    text = str(made["body"])
    assert (base64.b64decode(text) if made["isBase64Encoded"] else text.encode()) == body


def test_the_time_is_written_in_both_of_api_gateways_ways():
    context = event(b"{}", "application/json")["requestContext"]
    assert isinstance(context, dict)
    assert context["time"] == "15/Jan/2025:10:30:00 +0000"
    assert context["timeEpoch"] == 1736937000000
    assert context["domainPrefix"] == "api"


@pytest.mark.parametrize(
    ("claim", "text"), [(True, "true"), (7, "7"), (["a", 1], "[a 1]"), ({"a": 1}, '{"a":1}'), ("말", "말")]
)
def test_claims_are_text(claim, text):
    assert claim_text(claim) == text


@pytest.mark.parametrize(
    "result",
    [
        b"no json",
        b'{"statusCode": "many"}',
        b'{"statusCode": 200, "body": {"a": 1}}',
        b'{"statusCode": 200, "body": "*", "isBase64Encoded": true}',
    ],
)
def test_what_cannot_be_an_answer_is_a_500(result):
    answer = from_result(result)
    assert answer.status == 500
    assert json.loads(answer.body) == {"message": "Internal Server Error"}


def test_anything_but_an_answer_object_is_the_body_of_a_200():
    assert from_result(b'"text"').body == b"text"
    assert from_result(b"[1]").body == b"[1]"
    assert from_result(b"null").status == 200
