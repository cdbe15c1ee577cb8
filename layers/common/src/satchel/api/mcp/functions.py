"""Calls the function that serves a tool or a resource, through the Lambda Invoke API."""

import json
from collections.abc import Mapping
from typing import Any, NoReturn, Protocol, cast

from satchel.api.entry import ResourceEntry, TemplateEntry, ToolEntry
from satchel.api.principal import Principal
from satchel.errors import DeadlineError, TooLargeError, UnavailableError

_CONNECT_TIMEOUT_S = 2
# API Gateway waits no longer for us; whoever is not called through it says how long.
_MAX_TIMEOUT_S = 29.0


class Functions(Protocol):
    """What serves the catalogue."""

    def invoke(self, function: str, request: Mapping[str, Any], *, timeout_s: float) -> dict[str, Any]:
        """Return the function's answer: its result, or an `error` object.

        Args:
            function: Its name, as in `functions/`.
            request: What it is handed.
            timeout_s: How long to wait for the answer, in seconds.

        Raises:
            UnavailableError: It could not be called, or it failed.
            DeadlineError: It ran out of time, or we did.
            TooLargeError: The request or the answer is more than Lambda carries.
        """
        ...


def ask(
    functions: Functions,
    entry: ToolEntry | ResourceEntry | TemplateEntry,
    request: Mapping[str, Any],
    *,
    principal: Principal,
    request_id: str,
    remaining_s: float,
) -> dict[str, Any]:
    """Invoke the function of a catalogue entry for a caller, and wait until its time or ours is up.

    Args:
        functions: Who serves the catalogue.
        entry: What is asked.
        request: `{"tool", "arguments"}` or `{"resource"}`.
        principal: The verified caller.
        request_id: Names the request in logs and errors.
        remaining_s: How long we have ourselves, in seconds.

    Returns:
        The answer, with `structuredContent`, `contents` or `error`.

    Raises:
        SatchelError: As `Functions.invoke`.
    """
    payload = {
        "principal": {"user_id": principal.user_id, "scopes": sorted(principal.scopes)},
        **request,
        "request_id": request_id,
    }
    # One invocation of the adapter serves one request, so there is nobody whom this wait could hold up.
    wait_s = min(entry.timeout_s, remaining_s, _MAX_TIMEOUT_S)
    answer = functions.invoke(entry.function, payload, timeout_s=wait_s)
    if not answer.keys() & {"error", "structuredContent", "contents"}:
        raise UnavailableError(f"{entry.function} gave an answer that cannot be read")
    return answer


class LambdaFunctions:
    """Functions of one stack in AWS Lambda, or in whatever `AWS_ENDPOINT_URL_LAMBDA` names.

    Nothing is tried twice: a tool may not bear it, and the caller knows better when to come back.

    Args:
        stack: Prefix of the functions' names.
    """

    def __init__(self, stack: str) -> None:
        self._stack = stack
        self._clients: dict[int, Any] = {}

    def _client(self, timeout_s: int) -> Any:
        """The client that waits `timeout_s`. There is one for each length that occurs, and mostly one length occurs.

        A time limit on the socket needs no thread or timer, which would stop with the process when Lambda freezes it.
        """
        if timeout_s not in self._clients:
            import boto3  # noqa: PLC0415 - 200 ms that a cold `tools/list` does not need
            from botocore.config import Config  # noqa: PLC0415

            config = Config(
                connect_timeout=_CONNECT_TIMEOUT_S,
                read_timeout=timeout_s,
                retries={"total_max_attempts": 1},
                parameter_validation=False,
                tcp_keepalive=True,
            )
            self._clients[timeout_s] = cast("Any", boto3).client("lambda", config=config)
        return self._clients[timeout_s]

    def invoke(
        self,
        function: str,
        request: Mapping[str, Any],
        *,
        timeout_s: float = _MAX_TIMEOUT_S,
        tenant: str | None = None,
    ) -> dict[str, Any]:
        """Call `{stack}-{function}` and wait for its answer. As in `Functions`.

        Args:
            function: Its name.
            request: What it is handed.
            timeout_s: How long to wait, in seconds; whole ones count.
            tenant: Whose execution environment to use, for a function with tenant isolation.
        """
        from botocore.exceptions import BotoCoreError, ClientError, ReadTimeoutError  # noqa: PLC0415

        whole_s = int(timeout_s)
        if whole_s < 1:
            raise DeadlineError(f"no time is left for {function}")
        try:
            reply = self._client(whole_s).invoke(
                FunctionName=f"{self._stack}-{function}",
                Payload=json.dumps(request, separators=(",", ":")).encode(),
                **({"TenantId": tenant} if tenant else {}),
            )
            answer = json.loads(reply["Payload"].read())
        except ReadTimeoutError as error:
            raise DeadlineError(f"{function} did not answer within {whole_s} s") from error
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

    def send(self, function: str, event: Mapping[str, Any]) -> None:
        """Queue an event for `{stack}-{function}`: Lambda keeps it, and tries twice more what fails.

        Raises:
            UnavailableError: It could not be queued.
        """
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

        try:
            self._client(int(_MAX_TIMEOUT_S)).invoke(
                FunctionName=f"{self._stack}-{function}", InvocationType="Event", Payload=json.dumps(event).encode()
            )
        except (BotoCoreError, ClientError) as error:
            raise UnavailableError(f"{function} cannot be asked now") from error


def _tell_failure(function: str, failure: Any) -> NoReturn:
    """Raise what a failed function means. Its own message may hold content, so it is not passed on."""
    told = cast("dict[str, Any]", failure) if isinstance(failure, dict) else {}
    kind, message = str(told.get("errorType", "")), str(told.get("errorMessage", ""))
    if kind == "Function.ResponseSizeTooLarge":
        raise TooLargeError(f"the answer of {function} is larger than one response can carry; ask for less at a time")
    if kind == "Sandbox.Timedout" or "Task timed out" in message:
        raise DeadlineError(f"{function} ran out of time")
    raise UnavailableError(f"{function} failed")
