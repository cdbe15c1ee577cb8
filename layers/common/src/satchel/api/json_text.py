"""JSON as it is written on the wire."""

import json
from typing import Any


def compact_json(value: Any) -> str:
    """Return `value` as JSON without spaces; text as it is, escaped only where it could not be encoded."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return json.dumps(value, separators=(",", ":"))
    return text
