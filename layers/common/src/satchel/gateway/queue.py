"""Hands turns to the worker. What is queued are ids; who works on one reads the rest from the store."""

import json
from typing import Any, cast

from satchel.errors import UnavailableError

WORKER = "agent_worker"


class WorkerQueue:
    """The asynchronous invocations of the worker; Lambda keeps them and tries each three times.

    Args:
        stack: Prefix of the functions' names.
    """

    def __init__(self, stack: str) -> None:
        self._stack = stack
        self._client: Any = None

    def send(self, **ids: str) -> None:
        """Queue a task.

        Raises:
            UnavailableError: It could not be queued.
        """
        import boto3  # noqa: PLC0415 - only where something is queued
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

        if self._client is None:
            self._client = cast("Any", boto3).client("lambda")
        try:
            self._client.invoke(
                FunctionName=f"{self._stack}-{WORKER}", InvocationType="Event", Payload=json.dumps(ids).encode()
            )
        except (BotoCoreError, ClientError) as error:
            raise UnavailableError("the answer takes longer, and nobody can go on with it now") from error
