import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.memory.answers import asked_kinds, ends_with_question, gives, opens_with_reaction


@pytest.mark.parametrize(
    ("query", "kinds"),
    [
        ("When did I move?", {"time"}),
        ("언제 이사했지?", {"time"}),
        ("我什么时候搬家的?", {"time"}),
        ("what day is it", {"time"}),
        ("How long ago did I move?", {"time"}),
        ("How long have I had the turtles?", {"duration"}),
        ("피아노를 몇 년 동안 배웠지?", {"duration"}),
        ("我学钢琴多久了?", {"duration"}),
        ("Where do I live?", {"place"}),
        ("내가 어디 살지?", {"place"}),
        ("我住在哪里？", {"place"}),
        ("which city is it", {"place", "name"}),
        ("How many cats do I have?", {"number"}),
        ("고양이가 몇 마리라고 했지?", {"number"}),
        ("这个多少钱?", {"number"}),
        ("Who is my dentist?", {"name"}),
        ("What is the name of my dog?", {"name"}),
        ("피아니스트가 누구라고 했지?", {"name"}),
        ("我的猫叫什么?", {"name"}),
        ("What did I say about the garden?", set()),
        ("정원 이야기 해 줘", set()),
        ("", set()),
    ],
)
def test_the_kind_of_answer_is_read_off_the_question(query, kinds):
    assert asked_kinds(query) == kinds


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("time", "I moved last week"),
        ("time", "어제 이사했어"),
        ("time", "我昨天搬家了"),
        ("time", "at 5pm"),
        ("time", "SINCE 2019"),
        ("duration", "I've had them for three years"),
        ("duration", "3년째 배우고 있어"),
        ("duration", "学了两年"),
        ("place", "I moved to Seoul"),
        ("place", "서울로 이사했어"),
        ("place", "我搬到了首尔"),
        ("place", "it is under the pot"),
        ("number", "I have two of them"),
        ("number", "고양이 두 마리"),
        ("number", "三个"),
        ("name", "my dentist is Kwon"),
        ("name", "우리 개 이름은 “초코”야"),
        ("name", "《三体》"),
    ],
)
def test_a_message_that_gives_an_answer_of_the_kind_is_told_from_one_that_does_not(kind, content):
    assert gives(kind, content)
    assert not gives(kind, "I like the garden")
    assert not gives(kind, "정원이 좋아")


def test_a_question_ends_in_a_mark_of_any_script():
    assert all(ends_with_question(text) for text in ("why?", "왜？ ", "لماذا؟", 'he said "why?"'))
    assert not ends_with_question("why? because.")


@pytest.mark.parametrize(
    "content", ["Wow, that is great!", "우와 축하해", "哇，真的吗", "**Great** idea", "so happy for you"]
)
def test_a_reaction_to_the_message_before_is_seen(content):
    assert opens_with_reaction(content)


@pytest.mark.parametrize("content", ["I moved to Seoul", "Goodness knows", "와인을 샀어", "真空を買った", ""])
def test_what_opens_otherwise_is_no_reaction(content):
    assert not opens_with_reaction(content)


@pytest.mark.parametrize("sign", ["1", "一", "1 ", " ", '"', "A", "two "])
def test_a_document_of_one_sign_is_read_like_any_other(sign):
    document = sign * (100_000 // len(sign))
    assert not gives("duration", document)
    assert not gives("time", document)
    assert not opens_with_reaction(document)


def test_an_answer_is_looked_for_in_the_beginning_of_a_document():
    assert gives("place", "it is in the shed." + " more" * 2_000)
    assert not gives("place", "more " * 2_000 + "it is in the shed.")


@given(st.text())
def test_any_text_may_be_asked_or_said(text):
    assert all(isinstance(gives(kind, text), bool) for kind in asked_kinds(text))
    assert isinstance(opens_with_reaction(text), bool)
