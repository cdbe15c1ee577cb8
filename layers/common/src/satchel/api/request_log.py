"""One structured line per request: what ran, how long, how it ended. Never content."""

import traceback
from collections.abc import Mapping
from functools import cache
from typing import Any

from satchel.api.error_table import INTERNAL, wire_of


def log_request(
    *, function: str, request_id: str, duration_ms: float, error: BaseException | None, **counts: int
) -> None:
    """Write the line of one request.

    An error of ours is told by its code and the type of its cause; a fault adds the frames it passed through.
    The messages of exceptions are left out: drivers put values into theirs.
    """
    line: dict[str, Any] = {
        "function": function,
        "request_id": request_id,
        "duration_ms": round(duration_ms, 1),
        **counts,
    }
    if error is None:
        _logger().info("request", extra=line)
        return
    wire = wire_of(error)
    line |= {"error_code": wire.code, "error_types": _types(error)}
    if wire is INTERNAL:
        _logger().error("request", extra=line | {"frames": _frames(error)})
    else:
        _logger().info("request", extra=line)


def log_event(name: str, counts: Mapping[str, str | int]) -> None:
    """Write one line about something that happened inside a request; `counts` hold numbers and names, no content."""
    _logger().warning(name, extra=dict(counts))


def log_work(function: str, request_id: str, **counts: int) -> None:
    """Write one line about how much a request did."""
    _logger().info("work", extra={"function": function, "request_id": request_id, **counts})


@cache
def _logger() -> Any:
    from aws_lambda_powertools import Logger  # noqa: PLC0415 - not before the first request: it costs 45 ms

    return Logger(service="satchel", location=None)


def _types(error: BaseException | None) -> list[str]:
    types: list[str] = []
    while error is not None and len(types) < 8:  # noqa: PLR2004 - enough to see a chain, bounded against a ring
        types.append(type(error).__name__)
        error = error.__cause__ or error.__context__
    return types


def _frames(error: BaseException) -> list[str]:
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
