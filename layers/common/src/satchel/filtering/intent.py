"""What a tool call is after: read from its name, arguments and the user's question, by rules.

Pure; `llm_intent` does the same with a language model and falls back to this.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from satchel.filtering import date_ranges, words
from satchel.filtering.json_values import is_array, is_object
from satchel.filtering.tool_profiles import ToolProfile

# Arguments that hold what is looked for, in words.
_SEARCH_ARGUMENTS = frozenset(
    """
    query q question search search_query text keyword keywords term terms prompt phrase jql sql statement
    """.split()  # noqa: SIM905 - a list of hundreds of quoted words would be hard to read
)
_LIMIT_ARGUMENTS = ("max_results", "maxresults", "limit", "top_k", "count", "n", "size", "page_size", "per_page")
_MOST_FROM_LIMIT = 50
_MOST_ASKED = 1_000

# "top 5", "show the last 3": what is asked for, not "the first 4 bytes are lost" in the middle of a sentence.
_AMOUNT = re.compile(
    r"(?:^|(?<=[.:;,!?\n] )|\b(?:get|show|list|give|find|return|fetch|me|the|want|need|see)\s+)"
    r"(?:(?:top|first|last|latest|newest|best|up to|at most|only)\s+(\d{1,4})|(\d{1,3})\s+(?:most|best|newest|latest))"
    r"\b"
    r"(?!\s*(?:days?|weeks?|months?|years?|hours?|minutes?|bytes?|bits?|[kmg]b)\b)",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"(?:\b(?:without|except(?:\s+for)?|excluding|but\s+not|not\s+about|not\s+including|ignore|ignoring)\s+(?:the\s+)?"
    r"|(?<![\w-])-(?=[A-Za-z]))([\w'-]+)",
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"(?<![\w#])#([\w*?.-]+)")
_PERSON = re.compile(r"(?<![\w.@])@([\w*?.-]+)")
_GLOB = re.compile(r"(?<![\w*])([\w-]+\*|\*[\w-]+)(?![\w*])")
_SQL_TABLE = re.compile(r"\b(?:from|join|into|update)\s+[\"`]?([A-Za-z_][\w.]*)", re.IGNORECASE)
_SQL_COLUMNS = re.compile(r"\bselect\s+(.{1,2000}?)\s+from\b", re.IGNORECASE | re.DOTALL)
_SQL_AGGREGATE = re.compile(r"\b(count|sum|avg|min|max)\s*\(", re.IGNORECASE)
_JQL = re.compile(
    r"\b(project|status|priority|assignee|issuetype|type)\s*(?:=|in)\s*(\([^)]*\)|\"[^\"]*\"|'[^']*'|[\w.-]+)",
    re.IGNORECASE,
)
_JQL_TEXT = re.compile(r"~\s*(?:\"([^\"]*)\"|'([^']*)'|(\S+))")
_MAX_SENTENCE_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class Intent:
    """What the caller wants from a tool's answer.

    Attributes:
        intent: One sentence; its words count for ranking too.
        keywords: What it is about, as written, most specific first.
        filters: Filter name -> value or list of values; `date_range` is [first day, last day], ISO or None.
        max_results: How many items are wanted.
        confidence: How sure this reading is, in [0, 1].
        negatives: Words whose items are wanted less.
    """

    intent: str
    keywords: tuple[str, ...]
    filters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    max_results: int = 10
    confidence: float = 0.0
    negatives: tuple[str, ...] = ()


def analyze_intent(
    tool_name: str,
    arguments: Mapping[str, Any],
    question: str | None = None,
    *,
    profile: ToolProfile,
    max_keywords: int | None = None,
    negatives: bool = True,
    today: date | None = None,
) -> Intent:
    """Reads the intent of a tool call.

    Args:
        tool_name: The tool's name; its words are the last resort when nothing else says what is wanted.
        arguments: The call's arguments.
        question: What the user asked, where known.
        profile: The kind of tool.
        max_keywords: At most so many keywords; the profile's number by default.
        negatives: Whether "without X" makes X a negative; otherwise X is simply left out.
        today: Day that relative dates count from; without it they are not understood.

    Returns:
        The intent. The same input gives the same intent.
    """
    asked = _sentence(arguments, question)
    filters = {**_from_arguments(arguments, profile), **_from_statements(asked)}
    for name, values in _from_sentence(asked, profile).items():
        filters.setdefault(name, values)
    spans = date_ranges.find(asked, today)
    if spans:
        first, last = spans[0].first, spans[0].last
        filters["date_range"] = [first.isoformat() if first else None, last.isoformat() if last else None]
    unwanted = tuple(dict.fromkeys(match[1].lower() for match in _NEGATED.finditer(asked)))
    about = _AMOUNT.sub(" ", _without(asked, spans))
    if unwanted:
        about = _NEGATED.sub(" ", about)
    keywords = _keywords(about, profile, filters)
    if not keywords and not filters:
        keywords = _keywords(tool_name.replace("_", " "), profile, filters)
    limit = max_keywords or profile.max_keywords
    if len(keywords) > limit:
        kept = sorted(keywords, key=lambda word: (-_specificity(word), keywords.index(word)))[:limit]
        keywords = [word for word in keywords if word in kept]
    return Intent(
        intent=_AMOUNT.sub(" ", asked) or tool_name,  # "top 20" is no word to look for
        keywords=tuple(keywords),
        filters=filters,
        max_results=_amount(asked, arguments) or profile.max_results,
        confidence=_confidence(asked, keywords, filters),
        negatives=unwanted if negatives else (),
    )


def _sentence(arguments: Mapping[str, Any], question: str | None) -> str:
    said = [question.strip()] if question and question.strip() else []
    for name, value in arguments.items():
        if name.lower() in _SEARCH_ARGUMENTS:
            texts = [part for part in value if isinstance(part, str)] if is_array(value) else [value]
            said += [
                text.strip() for text in texts if isinstance(text, str) and text.strip() and text.strip() not in said
            ]
    return "\n".join(said)[:_MAX_SENTENCE_CHARS]


def _without(text: str, spans: list[date_ranges.DateRange]) -> str:
    for span in reversed(spans):
        text = text[: span.begin] + " " + text[span.end :]
    return text


def _keywords(text: str, profile: ToolProfile, filters: Mapping[str, Any]) -> list[str]:
    filtered = {str(value).lower() for values in filters.values() if is_array(values) for value in values}
    found: dict[str, str] = {}
    for match in words.WORD.finditer(words.normalise(text)):
        word = match[0]
        lower = word.lower()
        if (
            lower in words.FUNCTION_WORDS
            or lower in words.ASKING_WORDS
            or lower in profile.generic_words
            or lower in filtered
            or (len(lower) == 1 and lower.isascii())
        ):
            continue
        found.setdefault(words.stem(lower), word)
    return list(found.values())


def _specificity(word: str) -> float:
    # Identifiers, numbers and capitals name things; among plain words the longer one is rarer.
    named = any(char.isdigit() for char in word) or len(words.parts(word)) > 1 or word.isupper()
    return len(word) + (10 if named else 0)


def _values(value: Any) -> list[Any]:
    many = value if is_array(value) else [value]
    return [part for part in many if isinstance(part, str | int | float) and not isinstance(part, bool) and part != ""]


def _from_arguments(arguments: Mapping[str, Any], profile: ToolProfile) -> dict[str, Any]:
    by_argument = {argument: name for name, rule in profile.filters.items() for argument in rule.arguments}
    found: dict[str, Any] = {}
    for name, value in _flat(arguments):
        values = _values(value)
        if values and name.lower() in by_argument:
            found.setdefault(by_argument[name.lower()], []).extend(values)
    return found


def _flat(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in arguments.items():
        if is_object(value):
            yield from value.items()  # {"filters": {"status": "open"}}
        else:
            yield name, value


def _from_statements(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for match in _JQL.finditer(text):
        values = [part.strip(" \"'") for part in match[2].strip("()").split(",")]
        found.setdefault({"issuetype": "type"}.get(match[1].lower(), match[1].lower()), []).extend(
            v for v in values if v
        )
    columns = _SQL_COLUMNS.search(text)
    if columns is not None:
        found["tables"] = list(dict.fromkeys(_SQL_TABLE.findall(text)))
        names = [part.strip().split(".")[-1].strip('"` ') for part in columns[1].split(",")]
        found["columns"] = [name for name in names if re.fullmatch(r"\w+", name)]
        aggregates = [name.lower() for name in _SQL_AGGREGATE.findall(text)]
        if aggregates:
            found["aggregations"] = list(dict.fromkeys(aggregates))
    return {name: values for name, values in found.items() if values}


def _from_sentence(text: str, profile: ToolProfile) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    spaced = " " + " ".join(words.WORD.findall(text.lower())) + " "
    for name, rule in profile.filters.items():
        named = [word for word in rule.words if f" {word} " in spaced]
        if named:
            found[name] = named
    if "channels" in profile.filters:
        channels = _CHANNEL.findall(text) or _GLOB.findall(text)
        if channels:
            found["channels"] = list(dict.fromkeys(channels))
    people = _PERSON.findall(text)
    if people and "users" in profile.filters:
        found["users"] = list(dict.fromkeys(people))
    return found


def _amount(text: str, arguments: Mapping[str, Any]) -> int | None:
    lowered = {name.lower(): value for name, value in arguments.items()}
    for name in _LIMIT_ARGUMENTS:
        value = lowered.get(name)
        # A larger limit is the size of the tool's page, not of what the caller wants to read.
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MOST_FROM_LIMIT:
            return value
    match = _AMOUNT.search(text)
    asked = int(match[1] or match[2]) if match is not None else 0
    return asked if 1 <= asked <= _MOST_ASKED else None


def _confidence(text: str, keywords: list[str], filters: Mapping[str, Any]) -> float:
    if not text:
        return 0.3 if filters else 0.1
    return (
        round(min(1.0, 0.4 + 0.1 * min(len(keywords), 4) + (0.1 if filters else 0.0)), 2)
        if keywords or filters
        else 0.2
    )
