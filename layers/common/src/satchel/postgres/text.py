"""Text as PostgreSQL can hold it.

`text` and `jsonb` refuse U+0000, and a lone surrogate has no UTF-8 form. Both reach us from PDFs, Windows
consoles and cut-off JSON. Each becomes U+FFFD, the replacement character: the message is kept, the place stays
visible, and what is returned equals what is stored.
"""

import re
from typing import Any, cast

from satchel.errors import InvalidInputError

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable_text(text: str) -> str:
    """`text` with every NUL and lone surrogate replaced by U+FFFD."""
    return _UNSTORABLE.sub("�", text)


def storable_json(value: Any, *, field: str) -> Any:
    """A JSON value with `storable_text` applied to every string and every object key.

    Raises:
        InvalidInputError: Two keys of one object become the same.
    """
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [storable_json(item, field=f"{field}[{index}]") for index, item in enumerate(items)]
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        clean = {storable_text(key): storable_json(item, field=f"{field}.{key}") for key, item in entries.items()}
        if len(clean) != len(entries):
            raise InvalidInputError(
                f"{field} has keys that differ only in characters that cannot be stored", field=field
            )
        return clean
    return value
