"""Turns pydantic's findings into our own error, with the path of the field."""

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from satchel.errors import InvalidInputError

Model = TypeVar("Model", bound=BaseModel)
_SHOWN = 5


def validate(model: type[Model], value: Any) -> Model:
    """`value` as `model`.

    Raises:
        InvalidInputError: It does not fit. `field` is the path of the first finding (`messages[3].role`); the
            message names up to five, in the order of the model's fields, and repeats no value.
    """
    if not isinstance(value, dict):
        raise InvalidInputError("a JSON object is needed")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        found = [
            (field_path(item["loc"]), item["msg"].removeprefix("Value error, "))
            for item in error.errors(include_input=False, include_url=False)
        ]
        told = "; ".join(f"{path}: {message}" if path else message for path, message in found[:_SHOWN])
        raise InvalidInputError(told, field=found[0][0] or None) from error


def field_path(location: Sequence[str | int]) -> str:
    """A pydantic location as a path: `("messages", 3, "role")` is `messages[3].role`."""
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path
