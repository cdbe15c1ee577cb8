"""JSON read strictly: what two readers could understand in two ways is refused."""

import json
import math
from collections.abc import Callable
from typing import Any

from satchel.errors import InvalidInputError


def parse_json(text: str | bytes, *, parse_float: Callable[[str], Any] | None = None) -> Any:
    """The value of a JSON text.

    Args:
        text: The text; bytes must be UTF-8.
        parse_float: How numbers with a fraction or exponent are read; a finite float by default.

    Raises:
        InvalidInputError: It is not JSON, repeats a key within an object, holds NaN or an infinity, a number
            beyond reading, or is nested too deeply.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        return json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_float=parse_float or _finite,
        )
    except InvalidInputError:
        raise
    except UnicodeDecodeError as error:
        raise InvalidInputError("the body is not UTF-8") from error
    except RecursionError as error:
        raise InvalidInputError("the body is nested too deeply") from error
    except ValueError as error:
        raise InvalidInputError("the body is not JSON") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        again = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise InvalidInputError(f"the key {again!r} stands twice in one object", field=again)
    return found


def _refuse_constant(name: str) -> Any:
    raise InvalidInputError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise InvalidInputError("a number is outside the range of a double")
    return number
