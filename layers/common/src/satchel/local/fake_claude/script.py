"""What the fake Claude answers: replies as values, and scripts that choose one for a request.

A script is any function from the request's body to a `Reply`. Scripts are called from several threads at once.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Reply:
    """One answer of the server.

    Attributes:
        content: Content blocks of the message.
        stop_reason: Why the model stopped.
        status: HTTP status; 400 and above sends `error` in place of a message.
        error: Type and message of an API error.
        delay_s: How long the server waits before it answers, in seconds.
        raw: Bytes sent as the body in place of everything above.
        hangs_up: The connection is closed after half of the body.
        breaks_with: Type and message of an error that ends a stream half-way.
        pace_s: Pause before each event of a stream, in seconds.
        input_tokens: As reported in `usage`; None counts them, with what the prompt cache read and wrote.
        output_tokens: As reported in `usage`.
        headers: Further response headers.
    """

    content: Sequence[Mapping[str, Any]] = ()
    stop_reason: str = "end_turn"
    status: int = 200
    error: tuple[str, str] = ("api_error", "Internal server error")
    delay_s: float = 0.0
    raw: bytes | None = None
    hangs_up: bool = False
    breaks_with: tuple[str, str] | None = None
    pace_s: float = 0.0
    input_tokens: int | None = None
    output_tokens: int = 10
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


Script = Callable[[Body], Reply]


def says(text: str, *, stop_reason: str = "end_turn", delay_s: float = 0.0, pace_s: float = 0.0) -> Reply:
    """A message of one text block."""
    return Reply([{"type": "text", "text": text}], stop_reason=stop_reason, delay_s=delay_s, pace_s=pace_s)


def calls(*uses: tuple[str, str, Mapping[str, Any]], text: str = "", thinking: str | None = None) -> Reply:
    """A message that calls tools: id, name and input of each; what is said and thought before."""
    # The server signs what it sends.
    thought: list[dict[str, Any]] = [{"type": "thinking", "thinking": thinking}] if thinking is not None else []
    spoken: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    blocks = [{"type": "tool_use", "id": id_, "name": name, "input": given} for id_, name, given in uses]
    return Reply([*thought, *spoken, *blocks], stop_reason="tool_use")


def says_json(value: Any) -> Reply:
    """A message whose text is `value` as JSON."""
    return says(json.dumps(value, ensure_ascii=False))


def says_fenced(value: Any) -> Reply:
    """A message whose text is `value` as JSON inside a Markdown fence."""
    return says(f"```json\n{json.dumps(value, ensure_ascii=False)}\n```")


def is_cut_off(text: str) -> Reply:
    """A message that ran into `max_tokens`."""
    return says(text, stop_reason="max_tokens")


def refuses() -> Reply:
    """A message that the model refused to write."""
    return Reply([], stop_reason="refusal")


def fails(
    status: int, kind: str = "api_error", message: str = "failed by the script", *, retry_after_s: int | None = None
) -> Reply:
    """An API error, such as `fails(529, "overloaded_error")`."""
    headers = {} if retry_after_s is None else {"retry-after": str(retry_after_s)}
    return Reply(status=status, error=(kind, message), headers=headers)


def breaks_off(text: str, kind: str = "overloaded_error", message: str = "Overloaded") -> Reply:
    """A stream that ends with an error in the middle of `text`, after a status of 200."""
    return Reply([{"type": "text", "text": text}], breaks_with=(kind, message))


def hangs(seconds: float) -> Reply:
    """An answer that comes too late."""
    return says("{}", delay_s=seconds)


def hangs_up() -> Reply:
    """A connection that breaks in the middle of the body."""
    return Reply([{"type": "text", "text": "{}"}], hangs_up=True)


def garbles() -> Reply:
    """A body that is not JSON."""
    return Reply(raw=b'{"id": "msg_1", "content": [')


def in_turn(*replies: Reply | Script) -> Script:
    """A script that gives one reply after the other, and the last for ever."""
    lock = Lock()
    left = list(replies)

    def script(body: Body) -> Reply:
        with lock:
            reply = left.pop(0) if len(left) > 1 else left[0]
        return reply if isinstance(reply, Reply) else reply(body)

    return script
