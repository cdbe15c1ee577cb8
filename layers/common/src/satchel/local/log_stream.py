"""One stream of JSON lines for everything that functions and the platform around them say."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any, TextIO, cast

# Lambda cuts a log line here: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_InputLogEvent.html
_LINE_LIMIT_CHARS = 262_144


class LogStream:
    """Writes one JSON object a line, each with its time and the function it comes from.

    Args:
        sink: Where lines go.
        clock: The time, aware UTC.
    """

    def __init__(self, sink: TextIO, clock: Callable[[], datetime]) -> None:
        self._sink = sink
        self._clock = clock

    def event(self, kind: str, *, function: str = "", **fields: Any) -> None:
        """Writes what the platform itself has to say, such as the report of an invocation."""
        self._write({"type": kind, **({"function": function} if function else {}), **fields})

    def line(self, function: str, request_id: str, text: str) -> None:
        """Writes a line a function printed; the fields of a line that is a JSON object are kept as they are."""
        record: dict[str, Any] = {"type": "function", "function": function, "request_id": request_id}
        try:
            parsed = json.loads(text) if text.startswith("{") else None
        except ValueError:
            parsed = None
        # The runtime client divides the lines of a traceback with \r, to keep it one log entry.
        said: dict[str, Any] = {"message": text.replace("\r", "\n")[:_LINE_LIMIT_CHARS]}
        if isinstance(parsed, dict):
            said = cast("dict[str, Any]", parsed)
        self._write({**said, **{key: value for key, value in record.items() if value}})

    def _write(self, record: dict[str, Any]) -> None:
        stamp = self._clock().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._sink.write(json.dumps({"time": stamp, **record}, ensure_ascii=False) + "\n")
        self._sink.flush()
