"""The conversation summary in Claude's words, with the real SDK, ledger and database, and a scripted fake Claude."""

import pytest

from satchel import wiring
from satchel.local.fake_claude.script import fails, in_turn, is_cut_off, says, says_json
from satchel.local.fake_claude.server import FakeClaude
from tests.conftest import direct, forget_wiring

WORDS = {"recent": ["User wants an RSI filter"], "past": [], "focus": "RSI filter 🙂"}


@pytest.fixture
def summary(invoke, monkeypatch):
    def read(script, times=1):
        message = {"role": "user", "content": "RSI 필터를 추가할까?", "message_id": "m"}
        invoke("save_message", direct(arguments=message))
        with FakeClaude(script) as claude:
            monkeypatch.setenv("SATCHEL_LLM", "anthropic")
            monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
            monkeypatch.setenv("ANTHROPIC_BASE_URL", claude.url)
            wiring.database().close()
            forget_wiring()
            event = direct(resource="context://conversation-summary")
            answers = [invoke("context_resources.conversation_summary", event) for _ in range(times)]
            return [answer["contents"][0]["text"] for answer in answers], len(claude.received)

    return read


def test_the_model_words_the_summary_and_is_asked_once_for_the_same_one(summary):
    texts, asked = summary(in_turn(says_json(WORDS)), times=2)
    assert "- User wants an RSI filter" in texts[0]
    assert texts[0].endswith("Current focus: RSI filter 🙂")
    assert texts[0] == texts[1]
    assert asked == 1


@pytest.mark.parametrize(
    "reply",
    [fails(500), says("no JSON"), is_cut_off('{"recent": ["U'), says_json({"recent": [], "past": [], "focus": ""})],
)
def test_a_model_that_fails_leaves_the_rules_words(summary, reply):
    texts, _ = summary(in_turn(reply))
    assert "- user: RSI 필터를 추가할까?" in texts[0]
    assert texts[0].endswith("Current focus: indicator")
