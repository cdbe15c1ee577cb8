"""How many tokens an answer takes: an estimate, and said to be one.

Pure. A language model's real count depends on its own vocabulary.
"""

from collections.abc import Callable
from typing import Any

from satchel.filtering.json_values import minified

_BYTES_PER_TOKEN = 4
TokenCounter = Callable[[Any, Any], dict[str, Any]]


def by_bytes(before: int, after: int) -> dict[str, Any]:
    """Estimates from size alone, in bytes of minified JSON: four of them a token."""
    return {
        "before": -(-before // _BYTES_PER_TOKEN),
        "after": -(-after // _BYTES_PER_TOKEN),
        "encoding": "estimate: bytes / 4",
    }


def by_counting(count: Callable[[str], int], encoding: str) -> TokenCounter:
    """A counter that uses a vocabulary.

    Args:
        count: Tokens of a text.
        encoding: The vocabulary's name, for the label.
    """

    def counted(before: Any, after: Any) -> dict[str, Any]:
        texts = [value if isinstance(value, str) else minified(value) for value in (before, after)]
        return {"before": count(texts[0]), "after": count(texts[1]), "encoding": f"estimate: {encoding}"}

    return counted
