"""The batch document's own tests: ten samples against the published schema, and the same bytes three times."""

import json
import os
import subprocess
import sys

import jsonschema
import pytest

from satchel.api.wire.blocks import BuildRequest
from satchel.api.wire.built_blocks import BuildResponse
from satchel.blocks.building import build_session_blocks
from satchel.blocks.continuity import shipped_model

LAST = {"messageId": "k2", "role": "assistant", "content": "lsof -i :8080", "timestamp": "2025-01-15T10:00:00Z"}


def request(*lines, mode="FULL", existing=(), **options):
    sent = [
        {
            "messageId": f"m{number}",
            "role": role,
            "content": content,
            "timestamp": f"2025-01-15T10:{number:02}:00+09:00",
        }
        for number, (role, content) in enumerate(lines, start=1)
    ]
    return {
        "sessionId": "session 1/오늘", "analysisMode": mode, "messages": sent, "existingBlocks": list(existing),
        "options": options,
    }  # fmt: skip


SAMPLES = {
    "one message": request(("user", "hi")),
    "a problem solved": request(
        ("user", "도커 빌드가 npm install에서 멈춰요. 왜 그럴까요?"),
        ("assistant", "프록시를 쓰나요? `npm config set proxy http://proxy:8080` 해 보세요."),
        ("user", "해봤는데 그대로예요"), ("assistant", "DNS 설정을 바꿔 보세요."), ("user", "됐어요 감사합니다 😀"),
    ),
    "code": request(("user", "why?\n```py\nprint(1)\n```"), ("assistant", "run\n$ pytest -q\nand read the error")),
    "empty and odd texts": request(
        ("user", ""), ("assistant", " \u0000 "), ("system", "\ud83d"), ("user", "👩‍👩‍👧‍👦" * 99)
    ),
    "a very long message": request(("user", "word " * 40_000), ("assistant", "ok")),
    "system messages alone": request(("system", "You are helpful."), ("system", "Be brief.")),
    "thanks alone": request(("user", "thanks"), ("assistant", "you're welcome"), ("user", "네")),
    "known blocks": request(
        ("user", "and 8081?"), mode="INCREMENTAL",
        existing=[
            {"blockId": "b1", "messageIds": ["k1"], "tags": {"PROBLEM": "p"}},
            {"blockId": "b2", "messageIds": ["k2"], "lastMessage": LAST},
        ],
    ),
    "own thresholds": request(
        ("user", "How does quicksort work?"), ("user", "dinner?"), shiftLowSim=0, shiftHighSim=1, timeGapMinutes=0.5,
        maxLastMessagesForContext=30, timeGapMode="soft", summarize=False, explain=True,
    ),
    "the cosine": request(("user", "sort a list"), ("user", "the list to sort"), similarity="cosine", maxLlmCalls=0),
}  # fmt: skip


def build(body):
    read = BuildRequest.model_validate(body)
    result = build_session_blocks(read.to_session(), read.options.to_options(), continuity=shipped_model())
    return BuildResponse.of(result).model_dump(mode="json")


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_fits_the_schema_and_every_message_is_in_one_block(name):
    body, answer = SAMPLES[name], build(SAMPLES[name])
    jsonschema.validate(answer, BuildResponse.model_json_schema(mode="serialization"))
    laid = [message_id for block in answer["blocks"] for message_id in block["messageIds"]]
    assert len(laid) == len(set(laid)) == len(answer["messageToBlock"])
    assert {message["messageId"] for message in body["messages"]} <= set(laid)
    assert answer["stats"]["numBlocks"] == len(answer["blocks"])
    assert json.loads(json.dumps(answer).encode("utf-8")) == answer


def test_there_are_ten_samples():
    assert len(SAMPLES) == 10


def test_three_processes_with_other_hash_seeds_and_zones_write_the_same_bytes():
    program = (
        "import json; from tests.unit.blocks.test_samples import SAMPLES, build; "
        "print(json.dumps([build(body) for body in SAMPLES.values()]))"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed, "TZ": zone, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed, zone in (("0", "UTC"), ("1", "Asia/Seoul"), ("4242", "America/Los_Angeles"))
    ]
    assert len(set(outputs)) == 1
    assert json.loads(outputs[0]) == [build(body) for body in SAMPLES.values()]
