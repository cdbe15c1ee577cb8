"""JSON as it is written on the wire."""

import json
from typing import Any

# Lambda carries 6 MiB; the rest is for headers.
MAX_ANSWER_BYTES = 5_500_000


def compact_json(value: Any) -> str:
    """Return `value` as JSON without spaces; text as it is, escaped only where it could not be encoded."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return json.dumps(value, separators=(",", ":"))
    return text


def is_oversize(body: str) -> bool:
    """Whether `body` is too much for one answer, counted as Lambda does: as a string inside JSON, quotes escaped."""
    # A character takes at most 12 bytes there (an astral one, escaped), so most bodies need no counting.
    return len(body) * 12 > MAX_ANSWER_BYTES and len(json.dumps(body)) > MAX_ANSWER_BYTES
