import base64
import json
from datetime import timedelta

import pytest

from satchel.errors import InvalidInputError
from satchel.memory.candidates import Filters
from satchel.memory.search_store import NEAREST

LANGUAGES = [
    ("部署", "今天讨论了部署方案"),
    ("部", "今天讨论了部署方案"),
    ("案", "今天讨论了部署方案"),
    ("しりとり", "昨日はしりとりをした"),
    ("끝말잇기", "오늘 끝말잇기 게임을 했다"),
    ("überweisung", "Die Überweisungen wurden storniert"),
    ("ÜBERWEISUNG", "Die Überweisungen wurden storniert"),
    ("ete", "l'été dernier à Nîmes"),
    ("NIMES", "l'été dernier à Nîmes"),
    ("itgc", "重跑gen-itgc后清零"),
    ("清零", "重跑gen-itgc后清零"),
    ("الميزانية", "اجتماع الميزانية غدًا"),
    ("ميزانية", "اجتماع الميزانية غدًا"),
    ("user name", "call getUserName twice"),
    ("getusername", "call getUserName twice"),
    ("ETH", "watching ETH/USDT and btc_usdt"),
    ("btc", "watching ETH/USDT and btc_usdt"),
    ("C++", "rewrote the parser in C++ today"),
    ("strasse", "Er wohnt in der Schloßstraße 5, Straße am Park"),
    ("책", "어제 책을 다 읽었다"),
    ("บัญชี", "เปิดบัญชีใหม่แล้ว"),
    ("1000.50", "paid 1,000.50 for it"),
]


@pytest.mark.parametrize(("query", "content"), LANGUAGES)
def test_a_word_in_any_language_finds_its_message(history, query, content):
    for other in dict.fromkeys(text for _, text in LANGUAGES if text != content):
        history.say(other)
    history.say(content)
    assert content in history.found(query, limit=3)


ODD_QUERIES = [
    "a",
    "部",
    "?",
    "👍",
    "👨‍👩‍👧‍👦🎉",
    "C++ AND (",
    "100%_done",
    "' OR 1=1; DROP TABLE conversation_history; --",
    "%s %(x)s {}",
    "(a|b)*[^c]{2,}$",
    "foo & bar | !baz <-> qux:*",
    'NEAR(a, b) "unclosed',
    "\\",
    "مرحبا كيف الحال؟",
    "שלום עולם",
    "mixed 한국어 и русский 日本語 العربية",
    "\u202eright to left override",
    "word " * 20_000,
    "漢" * 100_000,
    "\x00",
    "a\x00b",
    "\ud800",
    "half \udc00 surrogate",
    "\n\t",
    "**",
    "نص" * 5_000,
]


@pytest.mark.parametrize("query", ODD_QUERIES)
def test_any_query_with_something_in_it_is_answered(history, query):
    history.say("An ordinary message about word counts, 漢字 and 👍")
    if not query.strip():
        with pytest.raises(InvalidInputError):
            history.search(query)
    else:
        result = history.search(query)
        assert all(0 <= hit.score <= 1 and 0 <= hit.similarity <= 1 for hit in result.hits)


def test_a_small_user_beside_a_large_one_loses_no_row(history, other_history):
    for number in range(120):
        other_history.say(f"gate code number {number}")
    mine = [history.say(f"the gate is old, remark {number}") for number in range(40)]
    hits = history.search("gate code", limit=10).hits
    assert len(hits) == 10
    assert all(hit.message in mine for hit in hits)
    late = history.search("gate code", limit=10, since=mine[28].created_at).hits
    assert len(late) == 10
    assert all(hit.message.created_at >= mine[28].created_at for hit in late)


def test_rows_of_others_never_change_a_score(history, other_history):
    for number in range(5):
        history.say(f"remark {number} about the garden")
    before = history.search("garden remark 3")
    for number in range(30):
        other_history.say(f"garden remark {number}")
    assert history.search("garden remark 3") == before


def test_a_document_of_many_passages_leaves_room_for_other_messages(history):
    history.say("garden " * 20_000, session="document")
    history.say("The gate is green.", session="talk")
    assert len(history.found("garden")) == 2
    assert len(history.found("what did we talk about yesterday?")) == 2


def test_a_star_lists_what_the_filters_let_through_newest_first(history):
    said = [history.say(f"text {number}", session=f"s{number % 2}") for number in range(7)]
    assert history.found("*", session_id="s0", limit=10) == ["text 6", "text 4", "text 2", "text 0"]
    assert history.found("*", since=said[2].created_at, until=said[4].created_at) == ["text 3", "text 2"]


@pytest.mark.parametrize("query", ["*", "the garden"])
def test_pages_hold_every_hit_once_while_messages_arrive(history, query):
    for number in range(11):
        history.say(f"remark {number} on the garden")
    whole = history.found(query, limit=100)
    seen, cursor = [], None
    while True:
        page = history.search(query, limit=3, cursor=cursor)
        seen += [hit.message.content for hit in page.hits]
        cursor = page.next_cursor
        if cursor is None:
            break
        history.say("the garden, the garden, the garden")
    assert seen == whole


def test_a_cursor_of_another_question_or_of_nobody_is_refused(history):
    for number in range(4):
        history.say(f"garden {number}")
    cursor = history.search("garden", limit=2).next_cursor
    for query, given in [("other", cursor), ("garden", "nonsense"), ("garden", "e30")]:
        with pytest.raises(InvalidInputError) as refused:
            history.search(query, limit=2, cursor=given)
        assert refused.value.field == "cursor"


@pytest.mark.parametrize("query", ["garden", "*"])
@pytest.mark.parametrize(
    ("place", "forged"),
    [
        (0, float("inf")),
        (0, 10**30),
        (0, "1"),
        (1, "x"),
        (1, None),
        (1, "2026-01-01T00:00:00"),
        (1, "0001-01-01T00:00:00+00:00"),
        (1, "9999-12-31T00:00:00+00:00"),
        (2, []),
        (3, float("inf")),
        (3, 10**40),
        (3, 2**62),
        (4, -(2**63) - 1),
    ],
)
def test_a_forged_cursor_is_refused_by_name(history, query, place, forged):
    for number in range(4):
        history.say(f"garden {number}")
    cursor = history.search(query, limit=2).next_cursor
    body = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    body[place] = forged
    with pytest.raises(InvalidInputError) as refused:
        history.search(query, limit=2, cursor=base64.urlsafe_b64encode(json.dumps(body).encode()).decode())
    assert refused.value.field == "cursor"


def test_the_floor_says_how_many_hits_it_removed(history):
    for number in range(4):
        history.say(f"garden {number}")
    result = history.search("garden", limit=3, min_score=1.0)
    assert (result.hits, result.below_min_score) == ((), 3)


def test_neighbours_come_in_order_and_from_the_same_session(history):
    history.say("before, elsewhere", session="other")
    for text in ("one", "two", "the garden gate", "four", "five"):
        history.say(text)
    (hit,) = history.search("garden gate", limit=1, neighbours=2).hits
    assert [message.content for message in hit.neighbours] == ["one", "two", "four", "five"]


def test_a_token_budget_keeps_the_best_hits_that_fit(history):
    history.say("garden gate " + "and so on " * 200)
    history.say("garden gate, painted green")
    hits = history.search("garden gate", limit=5, max_tokens=50).hits
    assert [hit.message.content for hit in hits] == ["garden gate, painted green"]


def test_the_tail_of_a_long_message_is_found(history):
    history.say("filler words here. " * 3_000 + "The vault combination is in the zebra drawer.")
    for number in range(5):
        history.say(f"short remark {number}")
    assert "zebra" in history.found("zebra drawer vault", limit=1)[0]


def test_messages_of_a_named_day_take_part_though_they_arrived_between_others(history, noon):
    earlier = []
    for number in range(NEAREST + 10):
        history.say(f"garden gate {number}", session=f"s{number}")
        if number in {5, 60}:
            at = noon - timedelta(days=3) + timedelta(hours=number)
            earlier.append(history.say("something else", session=f"d{number}", at=at).seq)
    (query,) = history.encoder.encode(["garden gate"], input_type="query")
    asked = {"query": query, "encoder": history.encoder.name, "words": (), "filters": Filters(), "corpus": NEAREST + 12}
    day = (noon - timedelta(days=3), noon - timedelta(days=2))
    found = history.index.candidates(**asked, days=[day])
    assert set(found.by_seq) - set(history.index.candidates(**asked, days=[]).by_seq) == {earlier[0]}
