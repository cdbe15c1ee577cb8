"""A strategy's versions: writing one, and what changed between two."""

import difflib
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from satchel.errors import InvalidInputError
from satchel.strategies.contract import NAME, read_strategy_code


@dataclass(frozen=True, slots=True)
class StrategyVersion:
    """One version of a strategy; `hash` is the SHA-256 of its code."""

    name: str
    version: int
    code: str
    hash: str
    metadata: dict[str, Any]
    created_at: datetime


class VersionStore(Protocol):
    """Where versions are kept."""

    def put_version(
        self, name: str, *, code: str, digest: str, metadata: dict[str, Any], now: datetime
    ) -> tuple[StrategyVersion, bool]:
        """The current version with this code, and whether this call made it."""
        ...


def write_strategy(
    name: str, code: str, *, store: VersionStore, clock: Callable[[], datetime]
) -> tuple[StrategyVersion, bool]:
    """Keep `code` as the current version of `name`; the same code again is the same version.

    Returns:
        The current version, and whether it is a new one.

    Raises:
        InvalidInputError: The name or the code is not one; nothing was written.
    """
    if not NAME.fullmatch(name):
        raise InvalidInputError(
            "a name has 1 to 64 ASCII letters (a to z), digits, spaces, dots, dashes or underscores and begins with a "
            "letter or digit",
            field="name",
        )
    metadata = read_strategy_code(code)
    digest = hashlib.sha256(code.encode()).hexdigest()
    return store.put_version(name, code=code, digest=digest, metadata=metadata.as_json(), now=clock())


def changes(before: StrategyVersion | None, after: StrategyVersion) -> str:
    """A unified diff from `before` to `after`; empty where there is nothing before."""
    if before is None:
        return ""
    lines = difflib.unified_diff(
        before.code.splitlines(), after.code.splitlines(), f"version {before.version}", f"version {after.version}",
        lineterm="",
    )  # fmt: skip
    return "\n".join(lines)
