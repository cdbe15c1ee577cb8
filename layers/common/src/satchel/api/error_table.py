"""What each error means on the wire: the one table from the error tree to HTTP and JSON-RPC."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from satchel import errors


@dataclass(frozen=True)
class Wire:
    """How one class of error is told: its code, its HTTP status and its JSON-RPC code."""

    code: str
    status: int
    json_rpc: int


ERROR_TABLE: Mapping[type[errors.SatchelError], Wire] = MappingProxyType(
    {
        errors.InvalidInputError: Wire("invalid_input", 400, -32602),
        errors.TooLargeError: Wire("too_large", 413, -32602),
        errors.UnauthorizedError: Wire("unauthorized", 401, -32001),
        errors.ForbiddenError: Wire("forbidden", 403, -32003),
        errors.NotFoundError: Wire("not_found", 404, -32602),
        errors.ConflictError: Wire("conflict", 409, -32602),
        errors.PreconditionFailedError: Wire("precondition_failed", 412, -32602),
        errors.RateLimitedError: Wire("rate_limited", 429, -32603),
        errors.UnavailableError: Wire("unavailable", 503, -32603),
        errors.DeadlineError: Wire("timeout", 504, -32603),
        errors.InvalidAnswerError: Wire("internal", 500, -32603),
    }
)
# A fault of ours: the caller learns the request id and nothing more.
INTERNAL = Wire("internal", 500, -32603)
_INTERNAL_MESSAGE = "something went wrong on our side; the request id names it in the log"


def wire_of(error: BaseException) -> Wire:
    """The row of the table for `error`; `INTERNAL` for anything that is not in the tree."""
    return ERROR_TABLE.get(type(error), INTERNAL) if isinstance(error, errors.SatchelError) else INTERNAL


def status_of(code: str) -> int:
    """The HTTP status of an error that a function has told by its `code`; 500 for one that is not in the table."""
    return next((wire.status for wire in ERROR_TABLE.values() if wire.code == code), INTERNAL.status)


def error_body(error: BaseException, request_id: str) -> dict[str, Any]:
    """The error object of the contracts: `{"code", "field", "message", "request_id"}`, plus `retry_after_s`."""
    wire = wire_of(error)
    known = isinstance(error, errors.SatchelError)
    body: dict[str, Any] = {
        "code": wire.code,
        "field": error.field if known else None,
        "message": error.message if known and wire is not INTERNAL else _INTERNAL_MESSAGE,
        "request_id": request_id,
    }
    if isinstance(error, errors.RetryableError):
        body["retry_after_s"] = error.retry_after_s
    return body
