"""SQL kept as SQL: each feature's `queries.sql`, read once and handed out by name."""

import re
from functools import cache
from importlib.resources import files
from typing import LiteralString, cast

_SECTION = re.compile(r"^-- name: ([a-z_0-9]+)\n", re.MULTILINE)


@cache
def load_queries(package: str) -> dict[str, LiteralString]:
    """The statements of `queries.sql` in `package`, by the name in their `-- name: …` line.

    The text of a packaged file is as constant as a literal, hence its type: a statement built at run time
    does not pass the type checker.

    Raises:
        ValueError: Two statements share a name.
    """
    parts = _SECTION.split(files(package).joinpath("queries.sql").read_text(encoding="utf-8"))
    names, statements = parts[1::2], parts[2::2]
    if len(set(names)) != len(names):
        raise ValueError(f"{package}: two statements share a name")
    return {name: cast("LiteralString", text.strip()) for name, text in zip(names, statements, strict=True)}
