"""Calls the function that serves a tool or a resource, through the Lambda Invoke API."""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NoReturn, Protocol, cast

from satchel.errors import DeadlineError, TooLargeError, UnavailableError

_CONNECT_TIMEOUT_S = 3
# No answer is awaited longer than API Gateway would wait for us.
_READ_TIMEOUT_S = 29


class Functions(Protocol):
    """What serves the catalogue."""

    def invoke(self, function: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the function's answer: its result, or an `error` object.

        Raises:
            UnavailableError: It could not be called, or it failed.
            DeadlineError: It ran out of time.
            TooLargeError: The request or the answer is more than Lambda carries.
        """
        ...


class LambdaFunctions:
    """Functions of one stack in AWS Lambda, or in whatever `AWS_ENDPOINT_URL_LAMBDA` names.

    Nothing is tried twice: a tool may not bear it, and the caller knows better when to come back.

    Args:
        stack: Prefix of the functions' names.
    """

    def __init__(self, stack: str) -> None:
        self._stack = stack

    @cached_property
    def _client(self) -> Any:
        import boto3  # noqa: PLC0415 - 200 ms that a cold `tools/list` does not need
        from botocore.config import Config  # noqa: PLC0415

        config = Config(
            connect_timeout=_CONNECT_TIMEOUT_S,
            read_timeout=_READ_TIMEOUT_S,
            retries={"total_max_attempts": 1},
            parameter_validation=False,
            tcp_keepalive=True,
        )
        return cast("Any", boto3).client("lambda", config=config)

    def invoke(self, function: str, request: Mapping[str, Any], *, tenant: str | None = None) -> dict[str, Any]:
        """Call `{stack}-{function}` and wait for its answer. As in `Functions`.

        Args:
            function: Its name.
            request: What it is handed.
            tenant: Whose execution environment to use, for a function with tenant isolation.
        """
        from botocore.exceptions import BotoCoreError, ClientError, ReadTimeoutError  # noqa: PLC0415

        try:
            reply = self._client.invoke(
                FunctionName=f"{self._stack}-{function}",
                Payload=json.dumps(request, separators=(",", ":")).encode(),
                **({"TenantId": tenant} if tenant else {}),
            )
            answer = json.loads(reply["Payload"].read())
        except ReadTimeoutError as error:
            raise DeadlineError(f"{function} did not answer in time") from error
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") == "RequestTooLargeException":
                raise TooLargeError("the request is larger than a function can be handed") from error
            raise UnavailableError(f"{function} cannot be called now") from error
        except (BotoCoreError, ValueError) as error:
            raise UnavailableError(f"{function} cannot be reached now") from error
        if "FunctionError" in reply:
            _tell_failure(function, answer)
        if not isinstance(answer, dict):
            raise UnavailableError(f"{function} gave an answer that cannot be read")
        return cast("dict[str, Any]", answer)


def _tell_failure(function: str, failure: Any) -> NoReturn:
    """Raise what a failed function means. Its own message may hold content, so it is not passed on."""
    told = cast("dict[str, Any]", failure) if isinstance(failure, dict) else {}
    kind, message = str(told.get("errorType", "")), str(told.get("errorMessage", ""))
    if kind == "Function.ResponseSizeTooLarge":
        raise TooLargeError(f"the answer of {function} is larger than one response can carry")
    if kind == "Sandbox.Timedout" or "Task timed out" in message:
        raise DeadlineError(f"{function} ran out of time")
    raise UnavailableError(f"{function} failed")
