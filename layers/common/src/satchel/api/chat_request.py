"""What `/v1/chat` reads from a request beside its body, and how its answers are dressed."""

from datetime import datetime
from typing import Any

from satchel.agent.answer import Answer
from satchel.agent.store import TurnRow
from satchel.api.envelopes import json_response
from satchel.api.gateway_request import GatewayRequest
from satchel.api.wire.chat import ChatResult, JobAccepted, JobError, JobResult, LinkCode
from satchel.errors import UnauthorizedError
from satchel.timestamps import format_timestamp

LINKS = "/v1/chat/links"
_JOBS = "/v1/chat/jobs/"
_RETRY_AFTER_S = "2"
# API Gateway ends a request after 30 seconds, those included in which it waited for a function to start.
_GATEWAY_S = 29.5
# API Gateway takes 128 KiB; the frame has more than the answer in it.
_MAX_FRAME_BYTES = 120_000


def bearer_token(request: GatewayRequest) -> str:
    """The caller's token, which API Gateway's authorizer has verified.

    Raises:
        UnauthorizedError: There is none.
    """
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise UnauthorizedError("a bearer token is needed")
    return token.strip()


def wants_job(request: GatewayRequest) -> bool:
    """Whether the caller would rather not wait (RFC 7240, `Prefer: respond-async`)."""
    return "respond-async" in request.headers.get("prefer", "")


def seconds_left(request: GatewayRequest, remaining_s: float, now: datetime) -> float:
    """How long the caller can still be answered.

    Args:
        request: The request.
        remaining_s: How long this invocation lives.
        now: The time, aware UTC.
    """
    waited = now.timestamp() - request.received_at_s
    # An event that is older than any request lives was replayed.
    return min(remaining_s, _GATEWAY_S - waited) if 0 <= waited < _GATEWAY_S else remaining_s


def job_id_of(request: GatewayRequest) -> str:
    """The job that a path names."""
    return request.path.removeprefix(_JOBS)


def turn_response(answer: Answer | TurnRow, *, show_context: bool) -> dict[str, Any]:
    """200 with the answer, or 202 with the job that it has become."""
    if isinstance(answer, Answer):
        body = ChatResult.of(answer, show_context=show_context)
        return json_response(200, body.model_dump(exclude_none=True))
    accepted = JobAccepted(job_id=answer.turn_id, session_id=answer.session_id, message_id=answer.message_id)
    headers = {"location": f"{_JOBS}{answer.turn_id}", "retry-after": _RETRY_AFTER_S}
    return json_response(202, accepted.model_dump(), headers)


def done_fields(answer: Answer, *, show_context: bool) -> dict[str, Any]:
    """The fields of a socket's last frame, which is at most as large as API Gateway's frames may be."""
    body = ChatResult.of(answer, show_context=show_context)
    if len(body.model_dump_json().encode()) > _MAX_FRAME_BYTES:
        shortened = [call.model_copy(update={"input": {}}) for call in body.tool_calls]
        body = body.model_copy(update={"context": None, "tool_calls": shortened})
    return body.model_dump(exclude_none=True, exclude={"session_id"})


def job_response(turn: TurnRow, answer: Answer | None) -> dict[str, Any]:
    """How far a job is, with its answer where it has one."""
    error = None
    if turn.status == "failed":
        code = turn.error_code or "internal"
        error = JobError(code=code, message=f"the turn failed ({code}); send the same message_id again to go on")
    body = JobResult(
        job_id=turn.turn_id, status=turn.status, result=ChatResult.of(answer) if answer else None, error=error
    )
    return json_response(200, body.model_dump(exclude_none=True))


def link_response(code: str, expires_at: datetime) -> dict[str, Any]:
    """201 with a code for linking a chat."""
    body = LinkCode(code=code, expires_at=format_timestamp(expires_at), command=f"/start {code}")
    return json_response(201, body.model_dump())


def no_content() -> dict[str, Any]:
    """204."""
    return {"statusCode": 204, "headers": {}, "body": "", "isBase64Encoded": False}
