from datetime import UTC, datetime, timedelta

from satchel.memory.messages import Message
from satchel.memory.summary import NO_HISTORY, Deed, gather_summary, summary_text

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)


def said(number, content, *, role="user", days=0.0):
    return Message("s", f"m{number}", number, role, content, {}, NOW - timedelta(days=days), True)


class Fixed:
    def __init__(self, *oldest_first):
        self.messages = list(oldest_first)

    def recent_messages(self, limit):
        return self.messages[::-1][:limit]


def gather(*messages, found=(), query=None, preferences=()):
    asked = []

    def find(text):
        asked.append(text)
        return found

    summary = gather_summary(store=Fixed(*messages), find_relevant=find, preferences=preferences, query=query)
    return summary, asked


def test_without_a_user_message_there_is_no_history():
    summary, asked = gather(said(1, "welcome", role="assistant"))
    assert summary_text(summary, now=NOW) == NO_HISTORY
    assert asked == []


def test_the_whole_text_has_its_sections_in_order():
    summary, asked = gather(
        said(1, "Shall we add an RSI filter to the strategy?\nI think so.", days=0.1),
        said(2, "네, 좋아요 🙂", role="assistant"),
        found=[said(-1, "I prefer simple strategies", days=31), said(-2, "2 % per trade", days=14)],
        preferences=["Risk tolerance: Medium"],
    )
    assert asked == ["Shall we add an RSI filter to the strategy?\nI think so."]
    deeds = [Deed(NOW - timedelta(hours=3), "sma (version 2), not tested yet")]
    assert summary_text(summary, now=NOW, deeds=deeds) == (
        "Recent Conversation Summary:\n\n"
        "Last 2 messages:\n"
        "- user: Shall we add an RSI filter to the strategy? I think so.\n"
        "- assistant: 네, 좋아요 🙂\n\n"
        "Relevant past discussions:\n"
        "- 1 month ago: I prefer simple strategies\n"
        "- 2 weeks ago: 2 % per trade\n\n"
        "Strategies worked on:\n"
        "- 3 hours ago: sma (version 2), not tested yet\n\n"
        "Known preferences:\n"
        "- Risk tolerance: Medium\n\n"
        "Current focus: strategy"
    )


def test_the_newest_ten_are_shown_oldest_first():
    summary, _ = gather(*(said(number, f"text {number}") for number in range(60)))
    assert [message.content for message in summary.recent] == [f"text {number}" for number in range(50, 60)]


def test_what_is_shown_already_or_twice_is_not_relevant_again():
    shown = said(9, "shown")
    old, twin = said(1, "old", days=2), said(2, "old", days=1)
    summary, _ = gather(
        old, *(said(n, f"t{n}") for n in range(10, 18)), shown, said(30, "now"), found=[shown, old, twin]
    )
    assert list(summary.relevant) == [old]


def test_at_most_five_past_discussions_are_shown_the_best_ones_oldest_first():
    found = [said(number, f"past {number}", days=number) for number in range(1, 9)]
    summary, _ = gather(said(99, "now"), found=found)
    assert [message.content for message in summary.relevant] == [f"past {number}" for number in (5, 4, 3, 2, 1)]


def test_a_query_replaces_the_last_user_message():
    summary, asked = gather(said(1, "hello"), query="position size")
    assert asked == ["position size"]
    assert summary_text(summary, now=NOW).endswith("Current focus: risk")


def test_long_messages_are_cut():
    summary, _ = gather(said(1, "가" * 300), found=[said(-1, "나" * 300, days=1)])
    text = summary_text(summary, now=NOW)
    assert f"- user: {'가' * 100}…" in text
    assert f"- 1 day ago: {'나' * 150}…" in text
