import asyncio
import io
import json
from datetime import UTC, datetime

import pytest

from satchel.local.invocation import Outcome
from satchel.local.log_stream import LogStream
from satchel.local.queues import QueueError, Queues
from satchel.local.template import Queue, QueueReader

NOW = datetime(2026, 11, 30, tzinfo=UTC)
WORK = Queue("work", "arn:work", visibility_s=0.2, max_receives=3, dead_letter_arn="arn:dead")
DEAD = Queue("dead", "arn:dead", visibility_s=30)
URL = "https://sqs.us-east-1.amazonaws.com/000000000000/work"
DONE = Outcome(b"null")


class Function:
    """Stands in for the function: answers each message as it is told to, the last for ever."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.got = []

    async def __call__(self, function, invocation):
        (record,) = json.loads(invocation.payload)["Records"]
        self.got.append(record)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return await answer(record) if callable(answer) else answer


def queues(folder, function, *, at_once=None):
    return Queues(
        [WORK, DEAD],
        [QueueReader("Worker", "arn:work", at_once)],
        {"Worker": None},
        folder=folder,
        invoke=function,
        logs=LogStream(io.StringIO(), lambda: NOW),
        clock=lambda: NOW,
    )


def kept(folder, queue="work"):
    return [json.loads(file.read_text())["body"] for file in (folder / queue).glob("*.json")]


async def until(condition):
    for _ in range(500):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came to that")


def test_a_message_is_handed_out_as_sqs_does_and_gone_once_it_is_answered_for(tmp_path):
    async def run():
        function = Function(DONE)
        served = queues(tmp_path, function)
        served.start()
        message_id = served.send(URL, "안녕 😀")
        await until(lambda: function.got and not kept(tmp_path))
        await served.close()
        (record,) = function.got
        assert (record["messageId"], record["body"]) == (message_id, "안녕 😀")
        assert record["attributes"]["ApproximateReceiveCount"] == "1"
        assert (record["eventSource"], record["eventSourceARN"]) == ("aws:sqs", "arn:work")

    asyncio.run(run())


@pytest.mark.parametrize("how", ["raises", "reports"])
def test_what_fails_comes_again_and_then_goes_to_the_dead_letters(tmp_path, how):
    async def refuse(record):
        failures = {"batchItemFailures": [{"itemIdentifier": record["messageId"]}]}
        return Outcome(b"{}", error=True) if how == "raises" else Outcome(json.dumps(failures).encode())

    async def run():
        function = Function(refuse)
        served = queues(tmp_path, function)
        served.start()
        served.send(URL, "poison")
        await until(lambda: kept(tmp_path, "dead"))
        await served.close()
        assert [r["attributes"]["ApproximateReceiveCount"] for r in function.got] == ["1", "2", "3"]
        assert (kept(tmp_path), kept(tmp_path, "dead")) == ([], ["poison"])

    asyncio.run(run())


def test_what_was_not_answered_for_is_handed_out_after_a_restart(tmp_path):
    async def hang(_record):
        await asyncio.sleep(60)

    async def run():
        first = queues(tmp_path, Function(hang))
        first.start()
        for text in ("one", "two"):
            first.send(URL, text)
        await asyncio.sleep(0.05)
        await first.close()
        assert sorted(kept(tmp_path)) == ["one", "two"]
        function = Function(DONE)
        second = queues(tmp_path, function)
        second.start()
        await until(lambda: not kept(tmp_path))
        await second.close()
        assert sorted(record["body"] for record in function.got) == ["one", "two"]

    asyncio.run(run())


def test_a_message_in_hands_comes_again_when_its_holder_said_and_then_died(tmp_path):
    async def run():
        times = []

        async def die(record):
            times.append(asyncio.get_running_loop().time())
            if len(times) == 1:
                served.change_visibility(record["receiptHandle"], 0.6)
                return Outcome(b"{}", error=True)
            return DONE

        served = queues(tmp_path, Function(die))
        served.start()
        served.send(URL, "x")
        await until(lambda: len(times) == 2)
        await served.close()
        assert times[1] - times[0] >= 0.55

    asyncio.run(run())


def test_no_more_are_handed_out_at_once_than_the_reader_takes(tmp_path):
    async def run():
        running, most = set(), []

        async def work(record):
            running.add(record["messageId"])
            most.append(len(running))
            await asyncio.sleep(0.02)
            running.discard(record["messageId"])
            return DONE

        served = queues(tmp_path, Function(work), at_once=2)
        served.start()
        for number in range(8):
            served.send(URL, str(number))
        await until(lambda: not kept(tmp_path))
        await served.close()
        assert max(most) == 2
        assert len(most) == 8

    asyncio.run(run())


def test_unknown_queues_and_receipts_are_refused(tmp_path):
    served = queues(tmp_path, Function(DONE))
    with pytest.raises(QueueError):
        served.send(URL + "-other", "x")
    with pytest.raises(QueueError):
        served.change_visibility("AQEB", 10)
