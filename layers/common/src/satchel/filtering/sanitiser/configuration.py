"""The sanitiser's configuration: what besides the built-in rules counts, and what does not."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal, cast, get_args

from satchel.errors import InvalidInputError
from satchel.filtering.sanitiser.json_text import Path, line_of
from satchel.filtering.sanitiser.patterns import Pattern, compile_custom, escape

Strategy = Literal["full", "partial", "remove"]
_MAX_PATTERN_CHARS = 2_000
_MAX_PATTERNS = 200
_PATTERN_MEMORY_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class CustomPattern:
    """A pattern of the configuration: RE2 syntax, a name for the audit log, and a glob of the tools it is for."""

    name: str
    pattern: Pattern
    tool: str = "*"


@dataclass(frozen=True, slots=True)
class SanitiserConfig:
    """What to look for and what to do with it.

    Attributes:
        pii_detection: Whether personal data is redacted too; credentials always are.
        audit_sensitive_access: Whether findings are to be written to the audit log.
        redact_patterns: Patterns besides the built-in ones.
        allowlist: Compiled patterns; what one of them matches as a whole stays.
        strategy: `full` writes `[REDACTED]`, `partial` leaves at most 4 characters at the end, `remove` nothing.
    """

    pii_detection: bool = True
    audit_sensitive_access: bool = True
    redact_patterns: tuple[CustomPattern, ...] = ()
    allowlist: tuple[Pattern, ...] = ()
    strategy: Strategy = "full"

    def patterns_for(self, tool_name: str) -> tuple[CustomPattern, ...]:
        """The custom patterns that apply to a tool."""
        return tuple(pattern for pattern in self.redact_patterns if fnmatchcase(tool_name, pattern.tool))


def parse(settings: Mapping[str, Any], *, source: str | None = None) -> SanitiserConfig:
    """Read the keys `piiDetection, auditSensitiveAccess, redactPatterns, allowlist, redactionStrategy`; others are left.

    Args:
        settings: The configuration object.
        source: The JSON text it was read from; errors then name the line.

    Raises:
        InvalidInputError: A value is of the wrong type, or a pattern is not RE2; `field` names it.
    """
    strategy = settings.get("redactionStrategy", "full")
    if strategy not in get_args(Strategy):
        raise _refusal(source, ("redactionStrategy",), "must be full, partial or remove")
    return SanitiserConfig(
        pii_detection=_boolean(settings, "piiDetection", source),
        audit_sensitive_access=_boolean(settings, "auditSensitiveAccess", source),
        redact_patterns=tuple(
            _custom(item, ("redactPatterns", index), source)
            for index, item in enumerate(_list(settings, "redactPatterns", source))
        ),
        allowlist=tuple(
            _allowed(item, ("allowlist", index), source)
            for index, item in enumerate(_list(settings, "allowlist", source))
        ),
        strategy=cast("Strategy", strategy),
    )


def load(text: str) -> SanitiserConfig:
    """Read a configuration file (JSON).

    Raises:
        InvalidInputError: It is not JSON, or a value is wrong; the message names the line, `field` the key.
    """
    try:
        settings = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInputError(f"line {error.lineno}: not valid JSON: {error.msg}") from error
    except RecursionError as error:
        raise InvalidInputError("line 1: nested too deeply") from error
    if not isinstance(settings, dict):
        raise InvalidInputError("line 1: the configuration must be an object")
    return parse(cast("dict[str, Any]", settings), source=text)


def _boolean(settings: Mapping[str, Any], key: str, source: str | None) -> bool:
    value = settings.get(key, True)
    if not isinstance(value, bool):
        raise _refusal(source, (key,), "must be true or false")
    return value


def _list(settings: Mapping[str, Any], key: str, source: str | None) -> list[Any]:
    value = settings.get(key, [])
    if not isinstance(value, list) or len(cast("list[Any]", value)) > _MAX_PATTERNS:
        raise _refusal(source, (key,), f"must be a list of at most {_MAX_PATTERNS}")
    return cast("list[Any]", value)


def _custom(item: Any, path: Path, source: str | None) -> CustomPattern:
    if isinstance(item, str):
        return CustomPattern(f"custom-{path[-1]}", _compiled(_encoded(item), path, source))
    described = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
    pattern = described.get("pattern")
    if not isinstance(pattern, str):
        raise _refusal(source, path, "must be a pattern, or an object with `pattern` and optional `name` and `tool`")
    texts = {"name": described.get("name", f"custom-{path[-1]}"), "tool": described.get("tool", "*")}
    for key, value in texts.items():
        if not isinstance(value, str):
            raise _refusal(source, (*path, key), "must be a string")
    return CustomPattern(texts["name"], _compiled(_encoded(pattern), (*path, "pattern"), source), texts["tool"])


def _allowed(item: Any, path: Path, source: str | None) -> Pattern:
    """A literal text, or a pattern between slashes."""
    if not isinstance(item, str) or not item:
        raise _refusal(source, path, "must be a text, or a pattern between slashes")
    is_pattern = len(item) > 2 and item[0] == item[-1] == "/"
    return _compiled(_encoded(item[1:-1]) if is_pattern else escape(item), path, source)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _compiled(pattern: bytes, path: Path, source: str | None) -> Pattern:
    if not pattern or len(pattern) > _MAX_PATTERN_CHARS:
        raise _refusal(source, path, f"must have 1 to {_MAX_PATTERN_CHARS} characters")
    try:
        return compile_custom(pattern, _PATTERN_MEMORY_BYTES)
    except ValueError as error:
        raise _refusal(source, path, "is not a pattern in RE2 syntax (no look-around, no back-references)") from error


def _refusal(source: str | None, path: Path, problem: str) -> InvalidInputError:
    name = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
    line = f"line {line_of(source, path)}: " if source is not None else ""
    return InvalidInputError(f"{line}{name} {problem}", field=name)
