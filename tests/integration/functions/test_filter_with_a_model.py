"""The filter with Claude: the real SDK, ledger and database, and a scripted fake; whatever goes wrong, rules answer."""

import json

import pytest

from satchel import filter_wiring, wiring
from satchel.local.fake_claude.script import (
    Reply,
    fails,
    garbles,
    hangs,
    hangs_up,
    is_cut_off,
    refuses,
    says,
    says_fenced,
    says_json,
)  # fmt: skip
from satchel.local.fake_claude.server import FakeClaude
from tests.conftest import LambdaTestContext, direct, forget_wiring

ITEMS = [
    {"id": 0, "text": "a breach was found in the portal"},
    {"id": 1, "text": "intruders got in through the gate 🙂"},
    *[{"id": i, "text": f"lunch number {i}"} for i in range(2, 32)],
]
INTENT = {"intent": "Find intrusions", "keywords": ["breach"], "max_results": None, "confidence": 0.9}


def relevance(body):
    """Scores for the items of a question: intruders and breaches matter."""
    items = json.loads(body["messages"][0]["content"])["items"]
    return says_json({"scores": [0.9 if "intruders" in text or "breach" in text else 0.1 for text in items.values()]})


def asked_about(body):
    """Which of the filter's questions a request asks."""
    system = body["system"]
    return "intent" if system.startswith("You read") else "relevance" if system.startswith("You judge") else "summary"


def answering(**replies):
    """A script that answers each kind of question by its own reply or script."""

    def script(body):
        reply = replies[asked_about(body)]
        return reply if isinstance(reply, Reply) else reply(body)

    return script


@pytest.fixture
def filtered(invoke, monkeypatch):
    def ask(script=None, response=ITEMS, times=1, remaining_ms=30_000):
        arguments = {
            "tool": {"name": "portal_events"},
            "arguments": {"query": "breach", "limit": 3},
            "response": response,
            "explain": "full",
        }
        monkeypatch.setattr(LambdaTestContext, "remaining_ms", remaining_ms)
        with FakeClaude(script or (lambda _body: refuses())) as claude:
            monkeypatch.setenv("SATCHEL_LLM", "anthropic" if script else "none")
            monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
            monkeypatch.setenv("ANTHROPIC_BASE_URL", claude.url)
            wiring.database().close()
            forget_wiring()
            forget_filter_wiring()
            event = direct(tool="filter_response", arguments=arguments)
            answers = [invoke("filter_response", event)["structuredContent"] for _ in range(times)]
            return answers, [asked_about(each.body) for each in claude.received]

    yield ask
    forget_filter_wiring()


def forget_filter_wiring():
    for value in vars(filter_wiring).values():
        if hasattr(value, "cache_clear") and value.__module__ == filter_wiring.__name__:
            value.cache_clear()


def comparable(answer):
    """What of an answer does not depend on the time it took, and on the handle's name."""
    metadata = {key: value for key, value in answer["metadata"].items() if key != "scoringLatencyMs"}
    return answer["data"], answer["reduction"], metadata


def test_a_model_finds_what_shares_no_word_and_the_ledger_gives_the_same_answer_again(filtered):
    answers, asked = filtered(answering(intent=says_fenced(INTENT), relevance=relevance), times=2)
    assert [item["id"] for item in answers[0]["data"]] == [0, 1]
    assert answers[0]["metadata"]["removedByReason"] == {"llm_relevance_low": 30}
    assert answers[0]["metadata"]["filterStrategy"].endswith("+llm")
    assert comparable(answers[0]) == comparable(answers[1])
    assert asked == ["intent", "relevance", "relevance"]


@pytest.mark.parametrize(
    ("reply", "tries"),
    [
        (refuses(), 2),
        (is_cut_off('{"scores": [0.9'), 2),
        (says("I would keep the first one."), 2),
        (says_json({"scores": [0.9, 0.8]}), 2),
        (says_json({"scores": [2] * 40}), 2),
        (says_json({"ids": [0, 1, 99]}), 2),
        (says_json([1, 2]), 2),
        (garbles(), 2),
        (hangs_up(), 2),
        (fails(529, "overloaded_error"), 2),
        (fails(500), 2),
        (fails(400, "invalid_request_error"), 1),
    ],
)
def test_a_model_that_fails_is_asked_once_more_and_then_rules_answer(filtered, reply, tries):
    [by_rules], _ = filtered()
    answers, asked = filtered(answering(intent=reply, relevance=reply), times=2)
    for answer in answers:
        assert answer["data"] == by_rules["data"]
        assert answer["metadata"]["removedByReason"] == by_rules["metadata"]["removedByReason"]
        assert answer["notice"] is None
    # The intent, the best ones, the others: each is asked for so often, and never again for the same request.
    assert asked == ["intent"] * tries + ["relevance"] * 2 * tries


def test_a_model_that_is_slow_does_not_outlast_the_invocation(filtered):
    [by_rules], _ = filtered()
    [answer], asked = filtered(answering(intent=hangs(30), relevance=hangs(30)), remaining_ms=5_000)
    assert answer["data"] == by_rules["data"]
    assert asked == ["intent"]


def test_a_good_second_answer_counts(filtered):
    replies = {"intent": [says("no"), says_json(INTENT)], "relevance": [fails(529, "overloaded_error")]}

    def script(body):
        left = replies[asked_about(body)]
        return left.pop(0) if left else relevance(body)

    [answer], asked = filtered(script)
    assert [item["id"] for item in answer["data"]] == [0, 1]
    assert asked == ["intent", "intent", "relevance", "relevance", "relevance"]


def test_a_long_text_is_summarised_in_the_models_words_without_secrets(filtered):
    token = "ghp_" + "T3stOnly" * 4 + "1234"
    text = "\n".join(f"2026-01-0{1 + i % 9}T10:00:00Z INFO worker {i} reported to the portal" for i in range(200))
    seen = []

    def summarise(body):
        seen.append(body["messages"][0]["content"])
        return says_json({"summary": f"200 reports were sent; one used {token}"})

    [answer], _ = filtered(answering(intent=says_json(INTENT), summary=summarise), f"{text}\ntoken {token}")
    assert answer["data"] == "200 reports were sent; one used [REDACTED]"
    assert answer["metadata"]["filterStrategy"] == "text:log+llm"
    assert seen
    assert token not in seen[0]


@pytest.mark.parametrize("reply", [says_json({"summary": " "}), is_cut_off('{"summary": "200'), refuses()])
def test_a_summary_that_fails_is_written_by_rules(filtered, reply):
    text = "\n".join(f"2026-01-0{1 + i % 9}T10:00:00Z INFO worker {i} reported to the portal" for i in range(200))
    [answer], asked = filtered(answering(intent=says_json(INTENT), summary=reply), text)
    assert answer["metadata"]["filterStrategy"] == "text:log"
    assert asked == ["intent", "summary", "summary"]
