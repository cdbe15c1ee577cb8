"""What the filter knows about a kind of tool: weights, thresholds, filters and always-kept fields.

Profiles come from a JSON file that people who tune relevance may replace; a mistake in it is refused when it is loaded,
with its line and field.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import Any

from satchel.errors import InvalidInputError
from satchel.filtering.json_values import field_path, is_array, is_object
from satchel.filtering.located_json import line_of

_NAMES = {
    "match": "match",
    "fieldWeights": "field_weights",
    "keywordWeights": "keyword_weights",
    "scoreThreshold": "score_threshold",
    "confidenceThreshold": "confidence_threshold",
    "maxResults": "max_results",
    "maxKeywords": "max_keywords",
    "alwaysKeep": "always_keep",
    "textThresholdChars": "text_threshold_chars",
    "genericWords": "generic_words",
    "filters": "filters",
    "promptTemplate": "prompt_template",
}
_MAX_COUNT = 1_000


@dataclass(frozen=True, slots=True)
class FilterRule:
    """How one filter is recognised.

    Attributes:
        arguments: Names of tool arguments that carry it.
        columns: Names of fields of the result that it speaks of.
        words: Values that a question may name without naming the filter, such as `critical`.
    """

    arguments: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolProfile:
    """One kind of tool.

    Attributes:
        name: `slack`, `jira`, `database`, `generic`, or a name of one's own.
        match: Globs over tool names, lower case; the first profile with a match is used.
        field_weights: Weight of a field's text in the score, by field name; 1 where unnamed.
        keyword_weights: Weight of a keyword, lower case; 1 where unnamed.
        score_threshold: Share of the best score, in [0, 1], that an item must exceed to be kept.
        confidence_threshold: Confidence of the intent, in [0, 1], below which items are not removed for their score.
        max_results: How many items are kept when nobody says.
        max_keywords: How many keywords an intent has at most.
        always_keep: Fields of an object that are never removed.
        text_threshold_chars: Characters up to which a text is left as it is.
        generic_words: Words of this kind of tool that say nothing about what is looked for.
        filters: How each filter is recognised, by its name.
        prompt_template: What a language model is told about this kind of tool.
    """

    name: str
    match: tuple[str, ...] = ("*",)
    field_weights: Mapping[str, float] = field(default_factory=dict[str, float])
    keyword_weights: Mapping[str, float] = field(default_factory=dict[str, float])
    score_threshold: float = 0.0
    confidence_threshold: float = 0.2
    max_results: int = 10
    max_keywords: int = 24
    always_keep: tuple[str, ...] = ("id", "timestamp")
    text_threshold_chars: int = 5_000
    generic_words: frozenset[str] = frozenset()
    filters: Mapping[str, FilterRule] = field(default_factory=dict[str, FilterRule])
    prompt_template: str = ""

    def field_weight(self, name: str) -> float:
        """The weight of a field's text, by the field's name in any case."""
        return self.field_weights.get(name.lower(), 1.0)

    @property
    def filter_columns(self) -> dict[str, tuple[str, ...]]:
        """Field names that each filter speaks of."""
        return {name: rule.columns for name, rule in self.filters.items()}


@dataclass(frozen=True, slots=True)
class ToolProfiles:
    """All profiles, in the order in which they are tried."""

    profiles: tuple[ToolProfile, ...]

    def of_tool(self, tool_name: str) -> ToolProfile:
        """The first profile whose globs match the tool's name; a plain one where none does."""
        name = tool_name.lower()
        for profile in self.profiles:
            if any(fnmatchcase(name, pattern) for pattern in profile.match):
                return profile
        return ToolProfile("generic")


class _Reader:
    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self._source = source

    def refuse(self, path: tuple[str | int, ...], message: str) -> InvalidInputError:
        field_name = field_path(path)
        line = line_of(self._text, path)
        return InvalidInputError(f"{self._source}, line {line}: {field_name} {message}", field=field_name or None)

    def object(self, value: Any, path: tuple[str | int, ...]) -> dict[str, Any]:
        if not is_object(value):
            raise self.refuse(path, "must be an object")
        return value

    def strings(self, value: Any, path: tuple[str | int, ...]) -> tuple[str, ...]:
        if not is_array(value):
            raise self.refuse(path, "must be a list of strings")
        for index, part in enumerate(value):
            if not isinstance(part, str) or not part:
                raise self.refuse((*path, index), "must be a string that is not empty")
        return tuple(value)

    def number(self, value: Any, path: tuple[str | int, ...], least: float, most: float) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise self.refuse(path, f"must be a number from {least:g} to {most:g}")
        return float(value)

    def count(self, value: Any, path: tuple[str | int, ...], most: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise self.refuse(path, f"must be a whole number from 1 to {most}")
        return value

    def weights(self, value: Any, path: tuple[str | int, ...]) -> dict[str, float]:
        given = self.object(value, path)
        return {name.lower(): self.number(weight, (*path, name), 0, 100) for name, weight in given.items()}

    def rules(self, value: Any, path: tuple[str | int, ...]) -> dict[str, FilterRule]:
        found: dict[str, FilterRule] = {}
        for name, rule in self.object(value, path).items():
            given = self.object(rule, (*path, name))
            for key in given:
                if key not in FilterRule.__slots__:
                    raise self.refuse((*path, name, key), "is not a setting")
            found[name] = FilterRule(
                **{key: self.strings(part, (*path, name, key)) for key, part in given.items()},
            )
        return found


def load_profiles(text: str, *, source: str = "tool profiles") -> ToolProfiles:
    """Reads profiles from a JSON text: an object of profile name -> settings, tried in its order.

    Args:
        text: The file's text; `tool_profiles.json` beside this module shows every setting.
        source: The file's name, for messages.

    Raises:
        InvalidInputError: It is not JSON, or a setting is unknown, of the wrong type or out of range. The message names
            the line and the field.
    """
    reader = _Reader(text, source)
    try:
        given = json.loads(text)
    except ValueError as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        message = error.msg if isinstance(error, json.JSONDecodeError) else "a number cannot be read"
        raise InvalidInputError(f"{source}, line {line}: not JSON ({message})") from error
    except RecursionError as error:
        raise InvalidInputError(f"{source}, line 1: nested too deeply") from error
    read: dict[str, Callable[[Any, tuple[str | int, ...]], Any]] = {
        "match": reader.strings,
        "fieldWeights": reader.weights,
        "keywordWeights": reader.weights,
        "scoreThreshold": lambda value, path: reader.number(value, path, 0, 1),
        "confidenceThreshold": lambda value, path: reader.number(value, path, 0, 1),
        "maxResults": lambda value, path: reader.count(value, path, _MAX_COUNT),
        "maxKeywords": lambda value, path: reader.count(value, path, _MAX_COUNT),
        "alwaysKeep": reader.strings,
        "textThresholdChars": lambda value, path: reader.count(value, path, 10_000_000),
        "genericWords": lambda value, path: frozenset(word.lower() for word in reader.strings(value, path)),
        "filters": reader.rules,
        "promptTemplate": lambda value, path: reader.strings([value], path)[0],
    }
    profiles: list[ToolProfile] = []
    for name, settings in reader.object(given, ()).items():
        values: dict[str, Any] = {}
        for key, value in reader.object(settings, (name,)).items():
            if key not in read:
                raise reader.refuse((name, key), "is not a setting")
            values[_NAMES[key]] = read[key](value, (name, key))
        profiles.append(ToolProfile(name=name, **values))
    return ToolProfiles(tuple(profiles))


def default_profiles() -> ToolProfiles:
    """The profiles that ship with Satchel."""
    return load_profiles((files("satchel.filtering") / "tool_profiles.json").read_text(encoding="utf-8"))
