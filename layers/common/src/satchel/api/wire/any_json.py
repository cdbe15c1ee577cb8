"""JSON of any form that goes out as it came in."""

import json
import re
from typing import Annotated, Any, cast

from pydantic import BeforeValidator

from satchel.filtering.sanitiser.key_names import distinct_keys

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


def _with_writable_keys(value: Any) -> Any:
    return _rewritten(value) if _LONE_SURROGATE.search(json.dumps(value, ensure_ascii=False)) else value


def _rewritten(value: Any) -> Any:
    if isinstance(value, list):
        return [_rewritten(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        names = {key: _LONE_SURROGATE.sub(_REPLACEMENT, key) for key in entries if _LONE_SURROGATE.search(key)}
        names = distinct_keys(entries, names)
        return {names.get(key, key): _rewritten(item) for key, item in entries.items()}
    return value


# The serialiser refuses a lone surrogate in a key; one in a value is written as an escape. In a key it becomes
# U+FFFD, and keys that this makes equal are numbered.
AnyJson = Annotated[Any, BeforeValidator(_with_writable_keys)]
