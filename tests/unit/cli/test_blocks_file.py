import json

import pytest

from satchel.cli.blocks_file import render, request_of
from satchel.cli.errors import CommandError

MESSAGES = [
    {"messageId": "m1", "role": "user", "content": "왜 안 돼? \x1b[31m", "timestamp": "2025-01-01T10:00:00Z"},
    {
        "messageId": "m2",
        "role": "assistant",
        "content": "ok 😀",
        "timestamp": "2025-01-01T10:01:00Z",
        "speaker": "Mina",
    },
]
RESULT = {
    "blocks": [
        {
            "blockId": "blk_s_1",
            "messageIds": ["m0", "m1", "m2"],
            "confidence": 0.5,
            "tags": {"CONTEXT": "", "PROBLEM": "왜 안 돼?", "TRIAL": ["a", "b"], "SOLUTION": "", "INSIGHT": ""},
        }
    ],
    "stats": {"numMessages": 2, "numBlocks": 1},
    "model": "rules",
}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(MESSAGES),
        "\n".join(map(json.dumps, MESSAGES)),
        json.dumps({"messages": MESSAGES}),
        "\ufeff" + json.dumps(MESSAGES),
    ],
)
def test_a_request_an_array_and_lines_are_read_alike(text):
    request = request_of(text.encode(), session_id="s")
    assert request["messages"] == MESSAGES
    assert (request["sessionId"], request["analysisMode"], request["options"]) == ("s", "FULL", {})


def test_another_file_is_refused_with_a_sentence():
    with pytest.raises(CommandError):
        request_of(b"hello", session_id="s")


def test_blocks_are_shown_with_tags_speakers_and_no_control_characters():
    shown = render(RESULT, MESSAGES, in_colour=False)
    assert "\x1b" not in shown
    for part in (
        "blk_s_1",
        "problem  왜 안 돼?",
        "trial    b",
        "Mina: ok 😀",
        "m0 (not sent)",
        "2 messages in 1 blocks",
    ):
        assert part in shown


def test_a_terminal_gets_a_colour_to_a_block():
    assert render(RESULT, MESSAGES, in_colour=True).startswith("\x1b[1;36m")
