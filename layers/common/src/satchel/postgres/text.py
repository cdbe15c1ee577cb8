"""Text as PostgreSQL can hold it.

`text` and `jsonb` refuse U+0000, and a lone surrogate has no UTF-8 form. Both reach us from PDFs, Windows
consoles and cut-off JSON. Each becomes U+FFFD, the replacement character: the message is kept, the place stays
visible, and what is returned equals what is stored.
"""

import re
from decimal import Decimal
from typing import Any, cast

from satchel.errors import InvalidInputError

# From here on Python writes a whole float with an exponent.
_WRITTEN_WITH_EXPONENT = 1e16
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


def as_jsonb(value: Any) -> Any:
    """A storable JSON value as `jsonb` gives it back, so that what is sent again equals what is stored.

    PostgreSQL writes `1e+23` out in full. Read as a whole number that is 10^23, which the double is not.
    """
    if isinstance(value, list):
        return [as_jsonb(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: as_jsonb(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, float) and _WRITTEN_WITH_EXPONENT <= abs(value) < float("inf"):
        return int(Decimal(repr(value)))
    return value
