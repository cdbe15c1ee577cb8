"""Reads the JSON object out of what a model wrote."""

import json
import re
from typing import Any

from satchel.llm.structured import ModelFailedError

_FENCED = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL | re.IGNORECASE)


def read_object(text: str) -> dict[str, Any]:
    """The JSON object that `text` is, with or without a fence around it.

    Raises:
        ModelFailedError: It is anything else; nothing is guessed from half an answer.
    """
    fenced = _FENCED.match(text)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError) as error:
        raise ModelFailedError("invalid") from error
    if not isinstance(value, dict):
        raise ModelFailedError("invalid")
    return value  # pyright: ignore[reportUnknownVariableType]
