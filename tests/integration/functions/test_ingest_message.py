"""Ingesting messages one by one, and reading a saved session's blocks, through the handlers and a real database."""

import json
from itertools import accumulate
from random import Random

import psycopg
import pytest


def ingest(invoke, message_id, content, minute, *, session="s", user="alice", role="user", **changes):
    message = {
        "messageId": message_id,
        "role": role,
        "content": content,
        "timestamp": f"2025-01-01T{minute // 60:02}:{minute % 60:02}:00Z",
        **changes,
    }
    answer = invoke(
        "ingest_message",
        {
            "principal": {"user_id": user, "scopes": ["context:read", "context:write"]},
            "tool": "ingest_message",
            "arguments": {"sessionId": session, "message": message},
            "request_id": "r",
        },
    )
    return answer.get("structuredContent") or answer["error"]


def read(invoke, session="s", user="alice"):
    answer = invoke(
        "context_resources.session_blocks",
        {
            "principal": {"user_id": user, "scopes": ["context:read"]},
            "resource": f"context://blocks/{session}",
            "request_id": "r",
        },
    )
    return json.loads(answer["contents"][0]["text"]) if "contents" in answer else answer["error"]


def save(invoke, message_id, content, minute, *, session="s", user="alice"):
    invoke(
        "save_message",
        {
            "principal": {"user_id": user, "scopes": ["context:write"]},
            "tool": "save_message",
            "arguments": {
                "role": "user", "content": content, "session_id": session, "message_id": message_id,
                "timestamp": f"2025-01-01T{minute // 60:02}:{minute % 60:02}:00Z",
            },
            "request_id": "r",
        },
    )  # fmt: skip


def test_a_message_is_placed_and_the_same_message_again_is_the_same_answer(invoke):
    first = ingest(invoke, "m1", "how do I sort a list in python?", 0)
    assert (first["blockId"], first["action"], first["rule"], first["duplicate"]) == (
        "blk_s_1",
        "NEW_BLOCK",
        "first",
        False,
    )
    follow = ingest(invoke, "m2", "I mean sort the list by its second element", 1)
    assert (follow["blockId"], follow["action"]) == ("blk_s_1", "APPEND")
    again = ingest(invoke, "m2", "I mean sort the list by its second element", 1)
    assert again == {**follow, "duplicate": True}


def test_the_same_id_with_another_body_is_a_conflict_and_changes_nothing(invoke):
    ingest(invoke, "m1", "how do I sort a list in python?", 0)
    before = read(invoke)
    assert ingest(invoke, "m1", "something else", 0)["code"] == "conflict"
    assert read(invoke) == before


def test_a_long_pause_and_a_new_question_open_a_block(invoke):
    ingest(invoke, "m1", "how do I sort a list in python?", 0)
    ingest(invoke, "m2", "ok thanks", 2)
    third = ingest(invoke, "m3", "hi, does anyone know a good restaurant for dinner tonight?", 900)
    assert (third["blockId"], third["action"]) == ("blk_s_2", "NEW_BLOCK")


def test_a_late_message_between_two_of_one_block_joins_it_and_moves_nobody(invoke):
    ingest(invoke, "m1", "how do I sort a list in python?", 0)
    ingest(invoke, "m3", "I mean sort the list by its second element", 2)
    late = ingest(invoke, "m2", "hello, what a lovely football match!", 1)
    assert (late["blockId"], late["rule"]) == ("blk_s_1", "inside")
    assert [block["messageIds"] for block in read(invoke)["blocks"]] == [["m1", "m2", "m3"]]


def test_saved_messages_are_in_the_blocks_that_are_read_next(invoke):
    save(invoke, "m1", "npm install fails with EACCES, why? 왜 안 되지?", 0)
    save(invoke, "m2", "run this:\n```sh\nsudo npm install\n```", 1)
    first = read(invoke)
    assert first["blocks"][0]["messageIds"] == ["m1", "m2"]
    assert first["blocks"][0]["code_snippets"] == [
        {"language": "bash", "content": "sudo npm install", "sourceMessageId": "m2"}
    ]
    save(invoke, "m3", "I tried sudo npm install, still the same error", 2)
    second = read(invoke)
    assert second["blocks"][0]["messageIds"] == ["m1", "m2", "m3"]
    assert second["blocks"][0]["tags"]["TRIAL"] == ["I tried sudo npm install, still the same error"]
    assert second == read(invoke)


CHAT = (
    "npm install fails with EACCES, why? 왜 안 되지?", "run this:\n```sh\nsudo npm install\n```",
    "I tried sudo npm install, still the same error", "then fix the owner of ~/.npm 😀", "thanks, that works",
    "오늘 저녁 뭐 먹을까?", "된장찌개 어때요?", "네", "hi, does anyone know a good restaurant?",
    "the one at the corner", "어제 축구 경기 누가 이겼어?", "홈팀이 2대 1로 이겼습니다.",
)  # fmt: skip


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_however_a_session_arrives_its_blocks_are_the_same(invoke, seed):
    chance = Random(seed)
    lines = [(f"m{n:02}", chance.choice(CHAT), chance.choice((1, 1, 1, 2, 15, 60))) for n in range(70)]
    at = list(accumulate(minutes for *_, minutes in lines))

    def arrive(user, batches):
        placed = 0
        for size in batches:
            for (message_id, text, _), minute in list(zip(lines, at, strict=True))[placed : placed + size]:
                save(invoke, message_id, text, minute, user=user)
            placed += size
            blocks = read(invoke, user=user)["blocks"]
        return [{key: block[key] for key in ("blockId", "messageIds", "tags", "code_snippets")} for block in blocks]

    whole = arrive("at once", [70])
    assert len(whole) > 5
    assert sum(len(block["messageIds"]) for block in whole) == 70
    assert arrive("in tens", [10] * 7) == whole
    assert arrive("in pieces", [1, 45, 2, 3, 19]) == whole
    for (message_id, text, _), minute in zip(lines, at, strict=True):
        ingest(invoke, message_id, text, minute, user="one by one")
    assert arrive("one by one", [0]) == whole


def test_a_long_block_keeps_the_code_of_its_beginning(invoke):
    save(invoke, "m000", "```py\nx = 1\n```", 0)
    for number in range(1, 45):
        save(invoke, f"m{number:03}", "```py\nx = 1\n``` again", number)
    read(invoke)
    save(invoke, "m900", "```py\nx = 1\n``` again", 46)
    snippets = [snippet["sourceMessageId"] for block in read(invoke)["blocks"] for snippet in block["code_snippets"]]
    assert len(snippets) == len(set(snippets)) == 46


def test_sessions_of_others_and_unknown_ones_read_alike(invoke):
    save(invoke, "m1", "hello there", 0, user="bob")
    assert read(invoke) == {**read(invoke, session="nowhere"), "request_id": "r"}
    assert read(invoke)["code"] == "not_found"
    assert read(invoke, user="bob")["blocks"]


def test_deleting_a_message_takes_everything_derived_from_it(invoke, admin_dsn):
    save(invoke, "m1", "my gate code is 4417-BLUE, how do I change the code?", 0)
    save(invoke, "m2", "which gate is it?", 1)
    assert "4417" in json.dumps(read(invoke))
    with psycopg.connect(admin_dsn, autocommit=True) as connection:
        connection.execute("DELETE FROM conversation_history WHERE message_id = 'm1'")
        for table in ("session_blocks", "block_messages", "llm_ledger"):
            rows = connection.execute(psycopg.sql.SQL("SELECT count(*) FROM {}").format(psycopg.sql.Identifier(table)))
            assert rows.fetchone() == (0,)
    rebuilt = read(invoke)
    assert "4417" not in json.dumps(rebuilt)
    assert [block["messageIds"] for block in rebuilt["blocks"]] == [["m2"]]


@pytest.mark.parametrize("field", ["sessionId", "message"])
def test_a_missing_field_is_named(invoke, field):
    arguments = {"sessionId": "s", "message": {}}
    del arguments[field]
    answer = invoke(
        "ingest_message",
        {"principal": {"user_id": "a", "scopes": ["context:write"]}, "tool": "ingest_message", "arguments": arguments,
         "request_id": "r"},
    )  # fmt: skip
    assert answer["error"]["field"].startswith(field)
