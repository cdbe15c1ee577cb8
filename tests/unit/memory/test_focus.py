import pytest

from satchel.memory.focus import infer_topic


@pytest.mark.parametrize(
    ("message", "topic"),
    [
        ("Can you BACKTEST this?", "strategy"),
        ("what does the RSI say", "indicator"),
        ("look at the chart with me", "analysis"),
        ("where do I put my stop loss", "risk"),
        ("이 전략 어때?", "strategy"),
        ("손절은 어디에?", "risk"),
        ("good morning ☀️", "general trading discussion"),
        ("", "general trading discussion"),
    ],
)
def test_the_focus_is_one_of_the_documents_topics(message, topic):
    assert infer_topic(message) == topic
