import asyncio
import base64
import json
from pathlib import Path

import pytest

from tests.integration.functions.test_context_resources import put, rest

PREFERENCES, WORKSPACE = "/v1/preferences", "/v1/workspace-state"


def get(invoke, path, **event):
    return invoke("preferences", rest(path, "GET", **event))


def test_the_golden_event_stores_what_it_says(invoke):
    event = json.loads(Path("events/preferences.json").read_text(encoding="utf-8"))
    answer = invoke("preferences", event)
    assert (answer["statusCode"], answer["headers"]["etag"]) == (200, '"1"')
    assert json.loads(answer["body"]) == json.loads(event["body"])
    assert json.loads(get(invoke, PREFERENCES)["body"]) == json.loads(event["body"])


@pytest.mark.parametrize("path", [PREFERENCES, WORKSPACE])
def test_versions_rise_by_one_and_guard_a_write(invoke, path):
    body = {"focus": "a"} if path == PREFERENCES else {"watchlist": ["BTC/USDT"]}
    assert get(invoke, path)["headers"]["etag"] == '"0"'
    assert put(invoke, path, body, headers={"if-match": '"0"'})["headers"]["etag"] == '"1"'
    assert put(invoke, path, body)["headers"]["etag"] == '"2"'
    assert put(invoke, path, body, headers={"if-match": 'W/"2"'})["headers"]["etag"] == '"3"'
    stale = put(invoke, path, {}, headers={"if-match": '"2"'})
    assert stale["statusCode"] == 412
    error = json.loads(stale["body"])["error"]
    assert (error["code"], error["field"], error["request_id"]) == ("precondition_failed", "If-Match", "http-1")
    assert get(invoke, path)["headers"]["etag"] == '"3"'
    assert put(invoke, path, {}, headers={"if-match": '"0"'})["statusCode"] == 412


def test_a_version_that_nobody_has_written_is_refused(invoke):
    assert put(invoke, PREFERENCES, {}, headers={"if-match": '"3"'})["statusCode"] == 412
    assert put(invoke, PREFERENCES, {}, headers={"if-match": "latest"})["statusCode"] == 400


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (PREFERENCES, {"risk": "high"}, "risk"),
        (PREFERENCES, {"active_pairs": "BTC"}, "active_pairs"),
        (PREFERENCES, {"active_pairs": ["ok", 1]}, "active_pairs[1]"),
        (PREFERENCES, {"custom_prompt": "x" * 20_001}, "custom_prompt"),
        (PREFERENCES, {"time_zone": "Mars/Olympus"}, "time_zone"),
        (PREFERENCES, {"time_zone": "../../etc/passwd"}, "time_zone"),
        (WORKSPACE, {"chart": {}}, "chart"),
        (WORKSPACE, {"currentChart": {"ticker": "X"}}, "currentChart.timeframe"),
        (
            WORKSPACE,
            {"openPositions": [{"ticker": "X", "side": "up", "size": 1, "entryPrice": 1}]},
            "openPositions[0].side",
        ),
        (
            WORKSPACE,
            {"openPositions": [{"ticker": "X", "side": "long", "size": "1", "entryPrice": 1}]},
            "openPositions[0].size",
        ),
        (
            WORKSPACE,
            '{"openPositions":[{"ticker":"X","side":"long","size":1e999999,"entryPrice":1}]}',
            "openPositions[0].size",
        ),
        (WORKSPACE, '{"currentChart":{"ticker":"X","timeframe":"1h","zoom":1e5000}}', "currentChart.zoom"),
        (
            WORKSPACE,
            {"recentAlerts": [{"type": "a", "message": "b", "timestamp": "soon"}]},
            "recentAlerts[0].timestamp",
        ),
        (WORKSPACE, '{"watchlist":[],"watchlist":[]}', "watchlist"),
        (WORKSPACE, "[]", None),
        (PREFERENCES, "", None),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_written(invoke, path, body, field):
    answer = put(invoke, path, body)
    assert answer["statusCode"] == 400
    error = json.loads(answer["body"])["error"]
    assert (error["code"], error["field"]) == ("invalid_input", field)
    assert get(invoke, path)["headers"]["etag"] == '"0"'


def test_a_workspace_over_its_limit_is_too_large(invoke):
    alerts = [{"type": "a", "message": "x" * 1_000, "timestamp": 0}] * 300
    assert put(invoke, WORKSPACE, {"recentAlerts": alerts})["statusCode"] == 413


def test_nul_and_emoji_survive_as_they_can(invoke):
    put(invoke, PREFERENCES, {"focus": "스윙\u0000 🚀"})
    assert json.loads(get(invoke, PREFERENCES)["body"])["focus"] == "스윙\ufffd 🚀"


def test_each_user_has_their_own(invoke):
    put(invoke, PREFERENCES, {"focus": "mine"})
    assert json.loads(get(invoke, PREFERENCES, user_id="bob")["body"])["focus"] is None


def test_writing_needs_the_write_scope_and_everything_needs_a_user(invoke):
    assert put(invoke, PREFERENCES, {}, scope="context:read")["statusCode"] == 403
    assert get(invoke, PREFERENCES, user_id=None)["statusCode"] == 401


def test_warm_calls_after_a_failing_one_still_answer(invoke):
    for body, status in (({}, 200), ({"risk": 1}, 400), ({}, 200)):
        assert put(invoke, PREFERENCES, body)["statusCode"] == status


def test_other_code_that_runs_and_drops_an_event_loop_does_not_stop_the_next_call(invoke):
    for _ in range(2):
        assert get(invoke, PREFERENCES)["statusCode"] == 200
        asyncio.run(asyncio.sleep(0))


def stage_event(kind, stage_path, body, *, method="PUT"):
    path = stage_path.removeprefix("/prod")
    claims = {"sub": "alice", "scope": "context:read context:write"}
    domain = "abc.execute-api.eu-west-1.amazonaws.com"
    common = {"headers": {"host": domain}, "body": body, "isBase64Encoded": True}
    if kind == "rest":
        context = {"path": stage_path, "stage": "prod", "domainName": domain, "authorizer": {"claims": claims}}
        return {**common, "resource": "/{proxy+}", "httpMethod": method, "path": path, "requestContext": context}
    http = {"method": method, "path": stage_path}
    context = {"http": http, "stage": "prod", "domainName": domain, "authorizer": {"jwt": {"claims": claims}}}
    return {**common, "version": "2.0", "rawPath": stage_path, "rawQueryString": "", "requestContext": context}


@pytest.mark.parametrize("kind", ["http", "rest"])
@pytest.mark.parametrize("stage", ["/prod", ""])
def test_every_kind_of_api_and_of_domain_is_answered_alike(invoke, kind, stage):
    body = base64.b64encode('{"focus":"Grüße 😀"}'.encode()).decode()
    answer = invoke("preferences", stage_event(kind, stage + PREFERENCES, body))
    assert (answer["statusCode"], answer["isBase64Encoded"], answer["headers"]["etag"]) == (200, False, '"1"')
    assert json.loads(answer["body"])["focus"] == "Grüße 😀"
    page = invoke("preferences", stage_event(kind, f"{stage}/openapi.json", "", method="GET"))
    assert json.loads(page["body"])["servers"][0]["url"] == f"https://abc.execute-api.eu-west-1.amazonaws.com{stage}"


@pytest.mark.parametrize("kind", ["http", "rest"])
@pytest.mark.parametrize("body", ["%%%", "e3g", "e30"])
def test_broken_base64_is_a_400(invoke, kind, body):
    answer = invoke("preferences", stage_event(kind, "/prod" + PREFERENCES, body))
    assert (answer["statusCode"], json.loads(answer["body"])["error"]["message"]) == (400, "the body is not base64")


def test_a_path_with_a_nul_leads_nowhere(invoke):
    answer = get(invoke, PREFERENCES + "\0")
    assert (answer["statusCode"], json.loads(answer["body"])["error"]["code"]) == (404, "not_found")
