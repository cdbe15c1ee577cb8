"""Names for upstream tools that every client accepts: `[a-zA-Z0-9_-]{1,64}`, unique, the same every time."""

import hashlib
import re
from collections.abc import Iterable

MAX_CHARS = 64
SEPARATOR = "__"
_HASH_CHARS = 8
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]+")


def mapped_names(tools: Iterable[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """A legal name for each (server, tool), in their order.

    `git` and `git/commit.now v2` give `git__git_commit_now_v2`. Where two would be equal, or one is too long, the name
    ends in a hash of the originals, so that it depends on nothing but them. The same pair twice gives one name.
    """
    plain: dict[tuple[str, str], str] = {
        pair: SEPARATOR.join(_ILLEGAL.sub("_", part).strip("_") or "x" for part in pair) for pair in tools
    }
    counts: dict[str, int] = {}
    for name in plain.values():
        counts[name] = counts.get(name, 0) + 1
    return {
        name if counts[name] == 1 and len(name) <= MAX_CHARS else _hashed(name, pair): pair
        for pair, name in plain.items()
    }


def _hashed(name: str, pair: tuple[str, str]) -> str:
    digest = hashlib.sha256("\x00".join(pair).encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_CHARS]
    return f"{name[: MAX_CHARS - _HASH_CHARS - 1]}_{digest}"
