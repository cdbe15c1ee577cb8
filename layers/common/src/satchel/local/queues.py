"""The queues of an application, and what Lambda does with them: hands each message to the function that reads it.

Messages are files, so that a restart goes on with what was waiting; like SQS, a message is there until a function has
answered for it, and comes again when that fails.
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
"""

import asyncio
import json
import os
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from hashlib import md5
from pathlib import Path
from typing import Any, cast

from satchel.local.cloudformation import REGION
from satchel.local.invocation import Invocation, Outcome
from satchel.local.log_stream import LogStream
from satchel.local.template import Function, Queue, QueueReader

# Where the SQS API is, below the Lambda API.
API_PATH = "queues"
_AT_ONCE = 4


class QueueError(Exception):
    """There is no such queue, or the message is not in anybody's hands; the message says which."""


@dataclass(frozen=True)
class Message:
    """One message, as it is kept.

    Attributes:
        message_id: Its id.
        body: Its text.
        sent_at_ms: When it was sent, in milliseconds since the epoch.
        receives: How often it has been handed out.
    """

    message_id: str
    body: str
    sent_at_ms: int
    receives: int = 0


class Queues:
    """All queues of an application.

    Args:
        queues: The queues.
        readers: Which function reads which queue.
        functions: The functions, by logical id.
        folder: Where messages are kept.
        invoke: Runs one invocation of a function.
        logs: Where a message that is given up is told.
        clock: The time, aware UTC.
    """

    def __init__(
        self,
        queues: Sequence[Queue],
        readers: Sequence[QueueReader],
        functions: Mapping[str, Function],
        *,
        folder: Path,
        invoke: Callable[[Function, Invocation], Awaitable[Outcome]],
        logs: LogStream,
        clock: Callable[[], datetime],
    ) -> None:
        self._queues = {queue.name: queue for queue in queues}
        self._readers = {reader.queue_arn: reader for reader in readers}
        self._functions = functions
        self._folder = folder
        self._invoke = invoke
        self._logs = logs
        self._clock = clock
        self._turns = {arn: asyncio.Semaphore(reader.at_once or _AT_ONCE) for arn, reader in self._readers.items()}
        # Of messages in the hands of a function: when they may be handed out again, on the monotonic clock.
        self._visible_at: dict[str, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Begin to hand out what was left."""
        for queue in self._queues.values():
            left = [Message(**json.loads(file.read_text("utf-8"))) for file in self._place(queue).glob("*.json")]
            for message in sorted(left, key=lambda message: (message.sent_at_ms, message.message_id)):
                self._hand_out_later(queue, message)

    def send(self, queue_url: str, body: str) -> str:
        """Keep a message, and have it handed out; its id.

        Raises:
            QueueError: There is no such queue.
        """
        queue = self._queues.get(queue_url.rsplit("/", 1)[-1])
        if queue is None:
            raise QueueError("The specified queue does not exist.")
        message = Message(str(uuid.uuid4()), body, int(self._clock().timestamp() * 1000))
        self._keep(queue, message)
        self._hand_out_later(queue, message)
        return message.message_id

    def change_visibility(self, receipt: str, seconds: float) -> None:
        """Have a message that is in a function's hands come again after `seconds`, unless it is answered for.

        Raises:
            QueueError: It is in nobody's hands.
        """
        if receipt not in self._visible_at:
            raise QueueError("The input receipt handle is invalid.")
        self._visible_at[receipt] = time.monotonic() + seconds

    async def close(self) -> None:
        """Hand out nothing more; what was not answered for stays."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _hand_out_later(self, queue: Queue, message: Message) -> None:
        reader = self._readers.get(queue.arn)
        if reader is not None:
            task = asyncio.create_task(self._until_done(queue, reader, message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _until_done(self, queue: Queue, reader: QueueReader, message: Message) -> None:
        while True:
            async with self._turns[queue.arn]:
                message = replace(message, receives=message.receives + 1)
                self._keep(queue, message)
                done, visible_at = await self._hand_out(queue, self._functions[reader.function], message)
            if not done and queue.max_receives and message.receives >= queue.max_receives:
                self._give_up(queue, message)
                done = True
            if done:
                self._file(queue, message).unlink(missing_ok=True)
                return
            await asyncio.sleep(visible_at - time.monotonic())

    async def _hand_out(self, queue: Queue, function: Function, message: Message) -> tuple[bool, float]:
        """Whether the function has answered for the message, and when else it comes again."""
        receipt = str(uuid.uuid4())
        self._visible_at[receipt] = time.monotonic() + queue.visibility_s
        event = {"Records": [record(queue, message, receipt)]}
        outcome = await self._invoke(function, Invocation(str(uuid.uuid4()), json.dumps(event).encode()))
        return not outcome.error and message.message_id not in _failures(outcome), self._visible_at.pop(receipt)

    def _give_up(self, queue: Queue, message: Message) -> None:
        self._logs.event("message_given_up", queue=queue.name, message_id=message.message_id)
        dead = next((other for other in self._queues.values() if other.arn == queue.dead_letter_arn), None)
        if dead is not None:
            self._keep(dead, message)
            self._hand_out_later(dead, message)

    def _keep(self, queue: Queue, message: Message) -> None:
        file = self._file(queue, message)
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = file.with_suffix(".new")
        with new.open("w", encoding="utf-8") as kept:
            json.dump(asdict(message), kept)
            kept.flush()
            os.fsync(kept.fileno())
        new.rename(file)

    def _file(self, queue: Queue, message: Message) -> Path:
        return self._place(queue) / f"{message.message_id}.json"

    def _place(self, queue: Queue) -> Path:
        return self._folder / queue.name


def record(queue: Queue, message: Message, receipt: str) -> dict[str, Any]:
    """A message as a function gets it.

    https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html#example-standard-queue-message-event
    """
    return {
        "messageId": message.message_id,
        "receiptHandle": receipt,
        "body": message.body,
        "attributes": {
            "ApproximateReceiveCount": str(message.receives),
            "SentTimestamp": str(message.sent_at_ms),
            "SenderId": "local",
            "ApproximateFirstReceiveTimestamp": str(message.sent_at_ms),
        },
        "messageAttributes": {},
        "md5OfBody": digest(message.body),
        "eventSource": "aws:sqs",
        "eventSourceARN": queue.arn,
        "awsRegion": REGION,
    }


def digest(body: str) -> str:
    """What SQS tells of a body so that its sender can compare."""
    return md5(body.encode(), usedforsecurity=False).hexdigest()


def _failures(outcome: Outcome) -> set[str]:
    """Ids of the messages that a function says it has not dealt with."""
    try:
        answer = json.loads(outcome.payload)
    except ValueError:
        return set()
    told = cast("dict[str, Any]", answer).get("batchItemFailures") if isinstance(answer, dict) else None
    return {str(failure["itemIdentifier"]) for failure in cast("list[dict[str, Any]]", told or [])}
