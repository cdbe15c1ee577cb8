"""From what a guest left behind to a result: everything here was written by untrusted code and is checked."""

import base64
import binascii
import json
import math
from typing import Any, cast

from satchel.sandbox.model import Artefact, Limits, SandboxResult, Status

_PNG = b"\x89PNG\r\n\x1a\n"
_TOLD: frozenset[Status] = frozenset({"ok", "error", "memory_limit", "output_limit"})
_NAME_CHARS = 100
# The largest integer that every JSON reader keeps exactly.
_MAX_EXACT = 2**53


def conclude(
    *,
    ended: Status | None,
    stdout: bytes,
    stderr: bytes,
    answer: bytes,
    limits: Limits,
    layers: tuple[str, ...],
    duration_ms: int,
) -> SandboxResult:
    """The result of a run.

    Args:
        ended: How the engine saw it end, where it did not end by itself.
        stdout: What it printed; longer than the limit where the limit was passed.
        stderr: The same for its errors.
        answer: The bootstrap's JSON, or anything a program put in its place.
        limits: The run's limits.
        layers: The walls around it.
        duration_ms: How long it took.
    """
    told = _told(answer)
    cut = tuple(name for name, data in (("stdout", stdout), ("stderr", stderr)) if len(data) > limits.output_bytes)
    status: Status = ended or cast("Status | None", told.get("status")) or _unsaid(stderr)
    if cut:
        status = "output_limit"
    value, value_cut = _value(told.get("value"), limits)
    artefacts, artefacts_cut = _pictures(told.get("artefacts"), limits)
    said = told.get("truncated", ())
    return SandboxResult(
        status=status,
        stdout=_text(stdout, limits),
        stderr=_text(stderr, limits),
        value=value,
        artefacts=artefacts,
        truncated=cut
        + (("value",) if value_cut or "value" in said else ())
        + (("artefacts",) if artefacts_cut or "artefacts" in said else ()),
        layers=layers,
        duration_ms=duration_ms,
    )


def _unsaid(stderr: bytes) -> Status:
    """The status of a program that ended without the bootstrap's word."""
    return "memory_limit" if b"MemoryError" in stderr else "crashed"


def _text(data: bytes, limits: Limits) -> str:
    return data[: limits.output_bytes].decode("utf-8", "replace")


def _told(answer: bytes) -> dict[str, Any]:
    try:
        told = json.loads(answer)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(told, dict):
        return {}
    told = cast("dict[str, Any]", told)
    if told.get("status") not in _TOLD:
        told.pop("status", None)
    if not isinstance(told.get("truncated", []), list):
        told.pop("truncated")
    return told


def _value(value: Any, limits: Limits) -> tuple[Any, bool]:
    try:
        text = json.dumps(_exact(value), allow_nan=False)
    except (ValueError, RecursionError):
        return None, True
    return (None, True) if len(text) > limits.value_bytes else (json.loads(text), False)


def _exact(value: Any) -> Any:
    """JSON data that every reader keeps: large integers as text, no NaN, no lone surrogates, no NUL."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) < _MAX_EXACT else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_exact(item) for item in cast("list[Any]", value)]
    return {cast("str", _exact(key)): _exact(item) for key, item in cast("dict[str, Any]", value).items()}


def _pictures(found: Any, limits: Limits) -> tuple[tuple[Artefact, ...], bool]:
    kept: list[Artefact] = []
    room, left_out = limits.artefact_bytes, False
    for item in cast("list[Any]", found) if isinstance(found, list) else []:
        picture = _picture(item)
        if picture is None or len(kept) == limits.artefacts or len(picture.data) > room:
            left_out = True
            continue
        room -= len(picture.data)
        kept.append(picture)
    return tuple(sorted(kept, key=lambda artefact: artefact.name)), left_out


def _picture(item: Any) -> Artefact | None:
    if not isinstance(item, dict):
        return None
    item = cast("dict[str, Any]", item)
    name, text = item.get("name"), item.get("base64")
    if not isinstance(name, str) or not isinstance(text, str) or not _is_plain(name):
        return None
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return Artefact(name, data) if data.startswith(_PNG) else None


def _is_plain(name: str) -> bool:
    """Whether a file name is what it looks like: no folder, nothing hidden, no control or direction characters."""
    return len(name) <= _NAME_CHARS and name.isprintable() and name[:1] not in {"", ".", "-"} and not {*"/\\"} & {*name}
