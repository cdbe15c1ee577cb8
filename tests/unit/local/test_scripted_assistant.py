import json

import pytest

from satchel.local.fake_claude.assistant import scripted_assistant

TOOLS = [{"name": "search_conversation"}]


def user(text):
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def assistant(text):
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def found(*texts):
    hits = [{"message": {"role": "user", "content": text}} for text in texts]
    return {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t", "content": json.dumps({"hits": hits})}],
    }


def reply(*messages):
    return scripted_assistant({"messages": list(messages), "tools": TOOLS})


def text(*messages):
    return reply(*messages).content[0]["text"]


@pytest.mark.parametrize("question", ["what does my cat hate", "고양이는 뭘 싫어해", "내 코트는 어디 있나요", "우산?"])
def test_a_question_is_looked_for_in_what_the_user_said(question):
    (call,) = reply(user(question)).content
    assert call["input"] == {"query": question, "limit": 12, "role": "user"}


def test_a_statement_is_kept_and_nothing_is_looked_for():
    assert "I have kept this." in text(user("고양이는 오이를 싫어해."))


def test_who_speaks_is_said_at_length_once_in_a_conversation():
    first = text(user("My cat hates oranges."))
    second = text(user("My cat hates oranges."), assistant(first), user("My dog does not."))
    third = text(user("a"), assistant(first), user("b"), assistant(second), user("c?"), found("b"))
    assert "not a language model" in first
    assert second.startswith("(stand-in) I have kept this.")
    assert third == "(stand-in) You said:\n> b"


def test_statements_are_quoted_before_questions_and_the_question_itself_never():
    asked = "고양이는 뭘 싫어해?"
    answer = text(user(asked), found("고양이가 싫어하는 게 뭐였지?", asked, "고양이는 오이를 싫어해 🥒", "what is it"))
    assert answer.split("You said:\n")[1] == "> 고양이는 오이를 싫어해 🥒\n> 고양이가 싫어하는 게 뭐였지?\n> what is it"


def test_where_nothing_was_found_it_says_so():
    assert text(user("where?"), found()).endswith("I found nothing about that.")


def test_nothing_is_counted_as_read_or_written():
    for answer in (reply(user("hello")), reply(user("where?")), reply(user("where?"), found("there"))):
        assert (answer.input_tokens, answer.output_tokens) == (0, 0)
