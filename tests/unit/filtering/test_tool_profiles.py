import json

import pytest

from satchel.errors import InvalidInputError
from satchel.filtering.located_json import line_of
from satchel.filtering.tool_profiles import default_profiles, load_profiles


@pytest.mark.parametrize(
    ("tool", "profile"),
    [
        ("slack_search_messages", "slack"),
        ("jira_search", "jira"),
        ("run_sql", "database"),
        ("get_weather", "generic"),
    ],
)
def test_a_tool_finds_its_profile_by_name(tool: str, profile: str) -> None:
    assert default_profiles().of_tool(tool).name == profile


def test_a_tool_without_a_profile_gets_a_plain_one() -> None:
    profile = load_profiles('{"mail": {"match": ["mail_*"]}}').of_tool("calendar")
    assert profile.name == "generic"
    assert profile.field_weight("title") == 1.0


@pytest.mark.parametrize(
    ("text", "line", "field"),
    [
        ('{\n "a": {"match": ["x"],}\n}', 2, None),
        ('{\n "a": {\n  "maxResults": 0\n }\n}', 3, "a.maxResults"),
        ('{\n "a": {\n  "maxResults": true}}', 3, "a.maxResults"),
        ('{\n "a": {},\n "b": {"colour": 1}\n}', 3, "b.colour"),
        ('{"a": {"fieldWeights":\n {"x": 1,\n  "title": "big"}}}', 3, "a.fieldWeights.title"),
        ('{"a": {"match": ["x",\n 7]}}', 2, "a.match[1]"),
        ('{"a": {"match": "x"}}', 1, "a.match"),
        ('{"a": {"filters": {"f":\n {"wrong": []}}}}', 2, "a.filters.f.wrong"),
        ('{"a":\n []}', 2, "a"),
        ("[]", 1, None),
        ('{"a": {"scoreThreshold": 2}}', 1, "a.scoreThreshold"),
    ],
)
def test_a_mistake_is_refused_at_load_with_its_line_and_field(text: str, line: int, field: str | None) -> None:
    with pytest.raises(InvalidInputError, match=f"line {line}:") as refused:
        load_profiles(text, source="profiles.json")
    assert refused.value.field == field


def test_a_file_nested_without_end_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="nested"):
        load_profiles('{"a":' + "[" * 200_000)


def test_the_line_of_a_missing_part_is_that_of_its_parent() -> None:
    text = json.dumps({"a": {"b": [1, 2]}}, indent=1)
    assert line_of(text, ("a", "b", 1)) == 5
    assert line_of(text, ("a", "b", 9)) == 3
    assert line_of(text, ("a", "b", 0, "deeper")) == 4
