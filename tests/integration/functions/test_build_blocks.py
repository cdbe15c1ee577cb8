"""`build_session_blocks` through its handler, with the real SDK, ledger and database, and a scripted fake Claude."""

import io
import json
from copy import deepcopy

import pytest
from aws_lambda_powertools import Logger

from satchel import wiring
from satchel.api import request_log
from satchel.local.fake_claude.script import (
    fails,
    garbles,
    hangs_up,
    in_turn,
    is_cut_off,
    refuses,
    says,
    says_fenced,
    says_json,
)  # fmt: skip
from satchel.local.fake_claude.server import FakeClaude
from tests.conftest import forget_wiring

# The whole range is zone, so that every message but the first is asked about.
ALL_ZONE = {"shiftLowSim": 0, "shiftHighSim": 1}
LINES = [
    ("user", "how do I sort a list in python?"),
    ("assistant", "use sorted(xs)"),
    ("user", "오늘 저녁 뭐 먹지? 🍜"),
    ("assistant", "라면 어때요?"),
]


def request(lines=LINES, **changes):
    messages = [
        {"messageId": f"m{i}", "role": role, "content": content, "timestamp": f"2025-01-01T10:{i:02}:00Z"}
        for i, (role, content) in enumerate(lines)
    ]
    base = {"sessionId": "s", "analysisMode": "FULL", "messages": messages, "existingBlocks": [], "options": {}}
    return {**base, **changes}


def event(body, user="alice"):
    return {
        "principal": {"user_id": user, "scopes": ["context:read"]},
        "tool": "build_session_blocks",
        "arguments": body,
        "request_id": "r",
    }


def decides(*actions, **changes):
    """Answers every question with these actions in turn, and empty summaries."""

    def script(body):
        lines = [json.loads(line) for line in body["messages"][0]["content"].splitlines()]
        if "block" in lines[0]:
            return says_json({"blocks": []})
        asked = [line["id"] for line in lines if line.get("decide")]
        items = [
            {"id": i, "action": action, "score": 0.5, "reason": "because 😀", **changes}
            for i, action in zip(asked, actions, strict=False)
        ]
        return says_json({"decisions": items})

    return script


@pytest.fixture
def with_claude(invoke, monkeypatch):
    """Builds with a fake Claude: `with_claude(script, request, …)` gives the answers and what Claude received."""

    def run(script, *bodies):
        with FakeClaude(script) as claude:
            monkeypatch.setenv("SATCHEL_LLM", "anthropic")
            monkeypatch.setenv("SATCHEL_LLM_MODEL", "claude-sonnet-5")
            monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
            monkeypatch.setenv("ANTHROPIC_BASE_URL", claude.url)
            answers = []
            for body in bodies:
                start_anew()
                answers.append(json.dumps(invoke("build_blocks", event(deepcopy(body))), sort_keys=False))
            return answers, claude.received

    yield run
    start_anew()


def start_anew():
    """As a new process would: nothing is remembered but what is stored."""
    wiring.database().close()
    forget_wiring()


def content(answer):
    return json.loads(answer)["structuredContent"]


def test_the_zone_is_decided_by_the_model_and_asked_once_for_three_equal_answers(with_claude):
    body = request(options={**ALL_ZONE, "summarize": False, "explain": True})
    answers, received = with_claude(decides("APPEND", "NEW_BLOCK", "APPEND"), body, body, body)
    assert len(set(answers)) == 1
    assert len(received) == 1
    result = content(answers[0])
    assert [block["messageIds"] for block in result["blocks"]] == [["m0", "m1"], ["m2", "m3"]]
    assert result["model"] == "claude-sonnet-5"
    assert result["stats"]["llmCalls_shift"] == 1
    assert [each["rule"] for each in result["explanations"]] == ["first", "llm", "llm", "llm"]
    assert result["explanations"][2]["reason"] == "because 😀"


@pytest.mark.parametrize(
    "bad",
    [
        refuses(), is_cut_off('{"decisions": ['), garbles(), hangs_up(), says(""), says("no"), says("[]"),
        fails(529), fails(400),
        says_json({"decisions": None}), says_json({"decisions": [None, 1, "x"]}), says_json({"other": []}),
        decides("APPEND", "NEW_BLOCK", "APPEND", score=1.5), decides("APPEND", "NEW_BLOCK", "APPEND", score=True),
        decides("APPEND", "NEW_BLOCK", "APPEND", score="0.5"), decides("MERGE", "MERGE", "MERGE"),
        decides("APPEND", "NEW_BLOCK", "APPEND", id="m99"),
    ],
)  # fmt: skip
def test_after_every_bad_answer_the_midpoint_decides_and_the_next_builds_say_the_same(with_claude, bad):
    body = request(options={**ALL_ZONE, "summarize": False, "explain": True})
    answers, received = with_claude(in_turn(bad, bad, decides("NEW_BLOCK", "NEW_BLOCK", "NEW_BLOCK")), body, body, body)
    assert len(set(answers)) == 1
    assert len(received) in (1, 2)
    result = content(answers[0])
    assert {each["rule"] for each in result["explanations"]} == {"first", "midpoint"}
    assert result["stats"]["llmCalls_shift"] == 0
    assert [m for block in result["blocks"] for m in block["messageIds"]] == ["m0", "m1", "m2", "m3"]


def test_an_answer_in_a_fence_counts(with_claude):
    fenced = says_fenced(
        {"decisions": [{"id": f"m{i}", "action": "APPEND", "score": 1, "reason": ""} for i in (1, 2, 3)]}
    )
    answers, received = with_claude(in_turn(fenced), request(options={**ALL_ZONE, "summarize": False}))
    assert len(content(answers[0])["blocks"]) == 1
    assert len(received) == 1


def test_a_half_answer_is_retried_once_and_what_is_missing_falls_back_alone(with_claude):
    body = request(options={**ALL_ZONE, "summarize": False, "explain": True})
    answers, received = with_claude(in_turn(decides("NEW_BLOCK")), body, body)
    assert len(set(answers)) == 1
    assert len(received) == 2
    assert [each["rule"] for each in content(answers[0])["explanations"]] == ["first", "llm", "midpoint", "midpoint"]


def test_refreshing_asks_again(with_claude):
    body = request(options={**ALL_ZONE, "summarize": False})
    again = request(options={**ALL_ZONE, "summarize": False, "refreshLlm": True})
    script = in_turn(decides("APPEND", "APPEND", "APPEND"), decides("NEW_BLOCK", "NEW_BLOCK", "NEW_BLOCK"))
    answers, _ = with_claude(script, body, again, body)
    assert [len(content(answer)["blocks"]) for answer in answers] == [1, 4, 4]


def test_no_question_is_asked_beyond_max_llm_calls(with_claude):
    answers, received = with_claude(decides("APPEND"), request(options={**ALL_ZONE, "maxLlmCalls": 0}))
    assert received == []
    assert content(answers[0])["stats"] == {
        "numMessages": 4, "numBlocks": len(content(answers[0])["blocks"]), "llmCalls_shift": 0, "llmCalls_summarize": 0,
    }  # fmt: skip


def test_with_the_store_down_the_rules_answer_and_nobody_is_asked(with_claude, monkeypatch):
    monkeypatch.setenv("SATCHEL_DATABASE_URL", "postgresql://nobody@127.0.0.1:9/none")
    body = request(options=ALL_ZONE)
    answers, received = with_claude(decides("APPEND", "APPEND", "APPEND"), body, body, body)
    assert len(set(answers)) == 1
    assert received == []
    assert content(answers[0])["model"] == "rules"


def summarises(**parts):
    nothing = {"text": "", "message_ids": []}

    def script(body):
        lines = [json.loads(line) for line in body["messages"][0]["content"].splitlines()]
        blocks = [line["block"] for line in lines if "block" in line]
        item = {"context": nothing, "problem": nothing, "solution": nothing, "insight": nothing, "trials": [], **parts}
        return says_json({"blocks": [{"block": block, **item} for block in blocks]})

    return script


def test_a_model_writes_the_tags_it_can_cite(with_claude):
    body = request(LINES[:2], options={"shiftLowSim": 0, "shiftHighSim": 0})
    problem = {"text": "Sorting a list in Python", "message_ids": ["m0"]}
    answers, _ = with_claude(summarises(problem=problem), body, body)
    assert len(set(answers)) == 1
    block = content(answers[0])["blocks"][0]
    assert block["tags"]["PROBLEM"] == "Sorting a list in Python"
    assert block["metadata"] == {
        "model": "claude-sonnet-5", "timestamp": "2025-01-01T10:01:00Z", "analysis_version": "4", "partial": False,
    }  # fmt: skip
    assert content(answers[0])["stats"]["llmCalls_summarize"] == 1


def test_a_tag_without_a_source_in_its_block_is_dropped_and_the_block_says_partial(with_claude):
    body = request(LINES[:2], options={"shiftLowSim": 0, "shiftHighSim": 0})
    answers, _ = with_claude(summarises(problem={"text": "Invented", "message_ids": ["m77"]}), body)
    block = content(answers[0])["blocks"][0]
    assert block["tags"]["PROBLEM"] == "how do I sort a list in python?"
    assert block["metadata"]["partial"] is True


@pytest.mark.parametrize("bad", [refuses(), is_cut_off('{"blocks": [{"block"'), says("```json\n{"), garbles()])
def test_when_no_summary_comes_the_rules_write_it_and_the_block_says_partial(with_claude, bad):
    body = request(LINES[:2], options={"shiftLowSim": 0, "shiftHighSim": 0})
    answers, _ = with_claude(in_turn(bad, bad, summarises()), body, body)
    assert len(set(answers)) == 1
    block = content(answers[0])["blocks"][0]
    assert block["tags"]["PROBLEM"] == "how do I sort a list in python?"
    assert block["metadata"]["model"] == "rules"
    assert block["metadata"]["partial"] is True
    assert block["confidence"] <= 0.5


def test_without_a_model_the_rules_answer(invoke):
    result = invoke("build_blocks", event(request()))["structuredContent"]
    assert result["model"] == "rules"
    assert set(result) == {"sessionId", "analysis_version", "model", "blocks", "messageToBlock", "stats"}


@pytest.mark.parametrize("field", ["sessionId", "analysisMode", "messages", "existingBlocks", "options"])
def test_a_missing_or_null_field_is_named(invoke, field):
    body = request()
    del body[field]
    for broken in (body, {**body, field: None}):
        assert invoke("build_blocks", event(broken))["error"]["field"] == field


def test_over_https_an_empty_list_of_messages_is_exactly_400(invoke):
    answer = invoke(
        "build_blocks",
        {
            "version": "2.0",
            "rawPath": "/v1/session-blocks:build",
            "rawQueryString": "",
            "headers": {"content-type": "application/json"},
            "body": json.dumps(request([])),
            "isBase64Encoded": False,
            "requestContext": {
                "http": {"method": "POST", "path": "/v1/session-blocks:build"},
                "authorizer": {"jwt": {"claims": {"sub": "alice", "scope": "context:read"}}},
                "stage": "$default",
            },
        },
    )
    assert answer["statusCode"] == 400
    assert json.loads(answer["body"])["error"]["field"] == "messages"


def test_the_log_tells_request_time_and_calls_and_nothing_that_was_said(invoke, monkeypatch):
    stream = io.StringIO()
    logger = Logger(service="log-of-a-test", stream=stream, location=None)
    monkeypatch.setattr(request_log, "_logger", lambda: logger)
    invoke("build_blocks", event(request()))
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    work, told = (next(line for line in lines if line["message"] == name) for name in ("work", "request"))
    assert (work["request_id"], work["messages"], work["blocks"], work["llm_calls"]) == ("r", 4, 2, 0)
    assert told["request_id"] == "r"
    assert told["duration_ms"] >= 0
    assert "python" not in json.dumps(lines)
