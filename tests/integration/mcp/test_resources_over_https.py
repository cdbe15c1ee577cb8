import json

import pytest

from satchel.errors import DeadlineError, UnavailableError
from tests.support.lambda_front import Context, http_event

PROFILE = "context://user-profile"
TEXT = {"contents": [{"uri": PROFILE, "mimeType": "text/plain", "text": "안녕 🙂"}]}


def get(bench, query, *, method="GET", **headers):
    given = {"authorization": f"Bearer {bench.token()}", **headers}
    answer = bench.adapter.handle(http_event(method, "/v1/resources", query=query, headers=given), Context())
    return answer["statusCode"], json.loads(answer["body"])


def test_a_resource_is_read_by_its_uri_from_the_function_that_serves_it(bench):
    bench.functions.answers["user_profile"] = TEXT
    assert get(bench, "uri=context%3A%2F%2Fuser-profile") == (200, TEXT)
    ((function, request),) = bench.functions.requests
    assert (function, request["resource"], request["principal"]["user_id"]) == ("user_profile", PROFILE, "alice")


def test_a_uri_with_variables_reaches_its_function_whole(bench):
    bench.functions.answers["conversation"] = TEXT
    get(bench, "uri=context%3A%2F%2Fconversation%2Fa%2520b%3Flimit%3D5")
    assert bench.functions.requests[0][1]["resource"] == "context://conversation/a%20b?limit=5"


@pytest.mark.parametrize(("query", "status"), [("", 400), ("uri=a&uri=b", 400), ("uri=context%3A%2F%2Fnothing", 404)])
def test_a_wrong_uri_is_told_by_the_name_of_the_field(bench, query, status):
    told, body = get(bench, query)
    assert (told, body["error"]["field"]) == (status, "uri")
    assert bench.functions.requests == []


@pytest.mark.parametrize("session", ["%00", "a%00b"])
def test_an_id_that_no_store_can_hold_is_told_by_its_name(bench, session):
    told, body = get(bench, f"uri=context%3A%2F%2Fconversation%2F{session.replace('%', '%25')}")
    assert (told, body["error"]["code"], body["error"]["field"]) == (400, "invalid_input", "session_id")
    assert bench.functions.requests == []


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({"error": {"code": "forbidden", "field": None, "message": "m", "request_id": "r"}}, 403),
        ({"error": {"code": "internal", "field": None, "message": "m", "request_id": "r"}}, 500),
        (UnavailableError("away"), 503),
        (DeadlineError("late"), 504),
        ({"unreadable": 1}, 503),
    ],
)
def test_what_goes_wrong_in_the_function_has_its_status(bench, answer, status):
    bench.functions.answers["user_profile"] = answer
    told, body = get(bench, f"uri={PROFILE}")
    assert told == status
    assert body["error"].keys() >= {"code", "field", "message", "request_id"}


def test_reading_needs_a_token_and_a_get(bench):
    assert get(bench, f"uri={PROFILE}", authorization="Bearer nonsense")[0] == 401
    assert get(bench, f"uri={PROFILE}", method="POST")[0] == 405
