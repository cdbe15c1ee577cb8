import json
import random
from io import BytesIO

import pytest

from satchel.api import uploaded_session
from satchel.api.uploaded_session import read_session, write_response
from satchel.api.wire.built_blocks import BuildResponse
from satchel.blocks.building import build_session_blocks
from satchel.blocks.continuity import shipped_model
from satchel.blocks.sessions import Options, Session
from satchel.blocks.streaming import StreamedBuild
from satchel.errors import InvalidInputError, TooLargeError


def line(number, **changes):
    return {
        "messageId": f"m{number:03}",
        "role": "user",
        "content": f"오늘은 {number}번째 \u2028 줄\n🚀",
        "timestamp": f"2025-01-01T{number // 60:02}:{number % 60:02}:00Z",
        **changes,
    }


def lines(*values):
    return BytesIO("\n".join(json.dumps(value, ensure_ascii=False) for value in values).encode())


def test_messages_come_in_order_of_time_however_many_runs_they_were_sorted_in(monkeypatch):
    sent = [line(number) for number in range(100)]
    random.Random(1).shuffle(sent)
    whole = list(read_session(lines(*sent)))
    assert [message.message_id for message in whole] == [f"m{number:03}" for number in range(100)]
    for run in (1, 7, 99, 100):
        monkeypatch.setattr(uploaded_session, "_RUN", run)
        assert list(read_session(lines(*sent))) == whole


def test_equal_times_are_ordered_by_id():
    sent = [line(5, messageId="b"), line(5, messageId="a")]
    assert [message.message_id for message in read_session(lines(*sent))] == ["a", "b"]


def test_a_byte_order_mark_empty_lines_and_windows_ends_are_no_messages():
    content = b"\xef\xbb\xbf\r\n\r\n" + json.dumps(line(1)).encode() + b"\r\n  \r\n" + json.dumps(line(2)).encode()
    assert [message.message_id for message in read_session(BytesIO(content))] == ["m001", "m002"]


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (b"", "messages"),
        (b"\n \n", "messages"),
        (json.dumps(line(0)).encode() + b"\n\nnot json", "messages[1]"),
        (b"[1]", "messages[0]"),
        (json.dumps(line(0, role="tool")).encode(), "messages[0].role"),
        (json.dumps(line(0, timestamp=1735689600)).encode(), "messages[0].timestamp"),
        (b'{"messageId":"a","messageId":"b"}', "messages[0].messageId"),
        (json.dumps(line(0)).encode() + b"\n" + json.dumps(line(0)).encode(), "messages[1].messageId"),
        (b"\xff\xfe", "messages[0]"),
    ],
)
def test_what_is_no_message_is_named_by_its_place(content, field):
    with pytest.raises(InvalidInputError) as caught:
        list(read_session(BytesIO(content)))
    assert caught.value.field == field


def test_an_endless_line_is_refused_after_a_mebibyte():
    class Endless(BytesIO):
        taken = 0

        def readline(self, size=-1):
            self.taken += size
            return b"x" * size

    endless = Endless()
    with pytest.raises(TooLargeError):
        list(read_session(endless))
    assert endless.taken <= 1024 * 1024 + 1


def test_more_messages_than_the_limit_are_refused(monkeypatch):
    monkeypatch.setattr(uploaded_session, "MAX_MESSAGES", 2)
    with pytest.raises(TooLargeError) as caught:
        list(read_session(lines(line(0), line(1), line(2))))
    assert caught.value.field == "messages[2]"


def test_the_answer_is_the_batch_response():
    messages = list(read_session(lines(*(line(number) for number in range(100)))))
    target = BytesIO()
    build = StreamedBuild("s", Options(gap_mode="soft"), continuity=shipped_model())
    write_response(build, "s", iter(messages), target)
    batch = build_session_blocks(Session("s", "FULL", messages), Options(gap_mode="soft"), continuity=shipped_model())
    assert json.loads(target.getvalue()) == BuildResponse.of(batch).model_dump(mode="json")
