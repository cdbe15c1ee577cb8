"""Field types that several requests share."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainValidator, StringConstraints, WithJsonSchema

from satchel.errors import InvalidInputError
from satchel.memory.messages import MAX_ID_CHARS
from satchel.postgres.text import as_jsonb, storable_json, storable_text
from satchel.timestamps import parse_timestamp


def _clean_text(value: Any) -> Any:
    return storable_text(value) if isinstance(value, str) else value


def _clean_object(value: Any) -> Any:
    return as_jsonb(storable_json(value, field="metadata"))


def _read_timestamp(value: Any) -> datetime:
    try:
        return parse_timestamp(value, field="it")
    except InvalidInputError as error:
        raise ValueError(error.message) from error


# Text the store can hold: NUL and lone surrogates are replaced by U+FFFD before anything looks at it.
StorableText = Annotated[str, BeforeValidator(_clean_text)]
# Free-form JSON kept with a message, cleaned the same way, keys included.
Metadata = Annotated[dict[str, Any], BeforeValidator(_clean_object)]
# An id a client chose: visible text, so that it survives logs, URIs and other systems.
Identifier = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID_CHARS, pattern=r"^[^\x00-\x1f\x7f]+$")]
# A time stamp as callers write it, read into an aware UTC datetime.
Timestamp = Annotated[
    datetime,
    PlainValidator(_read_timestamp),
    WithJsonSchema(
        {
            "type": ["string", "number"],
            "description": "ISO-8601 (naive means UTC), or epoch seconds or milliseconds.",
        }
    ),
]
