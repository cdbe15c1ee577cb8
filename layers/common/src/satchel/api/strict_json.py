"""JSON read strictly: what two readers could understand in two ways is refused."""

import json
import math
from collections.abc import Callable
from typing import Any, cast

from satchel.errors import InvalidInputError

# Far deeper than data is, and shallow enough for every function of ours that calls itself for each level.
MAX_DEPTH = 256
_TOO_LARGE = "a number is outside the range of a double"
_TOO_DEEP = f"the body is nested more than {MAX_DEPTH} deep"


def parse_json(text: str | bytes, *, parse_float: Callable[[str], Any] | None = None) -> Any:
    """The value of a JSON text.

    Args:
        text: The text; bytes must be UTF-8.
        parse_float: How numbers with a fraction or exponent are read; a finite float by default.

    Raises:
        InvalidInputError: It is not JSON, repeats a key within an object, holds NaN or an infinity, a number
            beyond reading, or is nested more than 256 deep.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        value = json.loads(
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
        raise InvalidInputError(_TOO_DEEP) from error
    except ArithmeticError as error:  # a Decimal whose exponent no Decimal has
        raise InvalidInputError(_TOO_LARGE) from error
    except ValueError as error:
        raise InvalidInputError("the body is not JSON") from error
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_deep(value):
        raise InvalidInputError(_TOO_DEEP)
    return value


def _is_deep(value: Any) -> bool:
    """Whether `value` is nested more than `MAX_DEPTH` deep, found level by level."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        objects = [cast("dict[str, Any]", item) for item in level if isinstance(item, dict)]
        arrays = [cast("list[Any]", item) for item in level if isinstance(item, list)]
        if not objects and not arrays:
            return False
        level = [item for held in objects for item in held.values()] + [item for held in arrays for item in held]
    return True


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
        raise InvalidInputError(_TOO_LARGE)
    return number
