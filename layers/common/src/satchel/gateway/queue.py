"""Hands turns to the worker. What is queued are ids; who works on one reads the rest from the store."""

import json
from contextlib import suppress
from typing import Any, cast

from satchel.errors import UnavailableError

# A task that has failed so often is given up; the queue's `maxReceiveCount` in the template.
MOST_ATTEMPTS = 4


class WorkerQueue:
    """The queue that the worker reads. What it has not answered for comes again.

    Args:
        url: The queue's URL.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._sqs: Any = None

    def send(self, **task: str | bool) -> None:
        """Queue a task.

        Raises:
            UnavailableError: It could not be queued.
        """
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - only where something is queued

        try:
            self._client().send_message(QueueUrl=self._url, MessageBody=json.dumps(task))
        except (BotoCoreError, ClientError) as error:
            raise UnavailableError("the answer takes longer, and nobody can go on with it now") from error

    def prepare(self) -> None:
        """Make ready to send: what that takes is better spent while a model is waited for than when time is up."""
        self._client()

    def keep(self, receipt: str, seconds: float) -> None:
        """Keep a task that is being worked on from coming again for `seconds`.

        It would come again at the end of the queue's own, long time-out: one who dies keeps nothing, and the task is
        back sooner. That it cannot be kept is no reason not to work on it.
        """
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - see above

        with suppress(BotoCoreError, ClientError):
            self._client().change_message_visibility(
                QueueUrl=self._url, ReceiptHandle=receipt, VisibilityTimeout=round(seconds)
            )

    def _client(self) -> Any:
        import boto3  # noqa: PLC0415 - see above

        if self._sqs is None:
            self._sqs = cast("Any", boto3).client("sqs")
        return self._sqs
