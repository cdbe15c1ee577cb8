"""Replaces workers when their code changes."""

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from satchel.local.log_stream import LogStream
from satchel.local.template import Function
from satchel.local.workers import Fleet


def affected(functions: Mapping[str, Function], changed: Sequence[Path]) -> set[str]:
    """Logical ids of the functions whose folder or layers hold one of the changed files."""
    return {
        logical_id
        for logical_id, function in functions.items()
        if any(path.is_relative_to(folder) for path in changed for folder in (function.code, *function.layers))
    }


async def watch(functions: Mapping[str, Function], fleet: Fleet, logs: LogStream) -> None:
    """Watches code and layers until cancelled; a changed function's next call runs the new code."""
    import watchfiles  # noqa: PLC0415 - nobody but a developer's server needs it

    folders = sorted({folder for f in functions.values() for folder in (f.code, *f.layers) if folder.is_dir()})
    changed_files = cast("AsyncIterator[set[tuple[Any, str]]]", watchfiles.awatch(*folders, debounce=200))  # pyright: ignore[reportUnknownMemberType]
    async for changes in changed_files:
        names = affected(functions, [Path(path) for _, path in changes])
        for logical_id in sorted(names):
            fleet.pools[logical_id].retire()
        if names:
            logs.event("reload", functions=sorted(functions[name].name for name in names))
