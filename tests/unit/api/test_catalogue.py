import pytest
from pydantic import BaseModel

from satchel.api.catalogue import Catalogue
from satchel.api.entry import ResourceEntry, TemplateEntry, ToolEntry
from satchel.errors import InvalidInputError


class Nothing(BaseModel):
    pass


def tool(name: str, toolset: str = "default") -> ToolEntry:
    return ToolEntry(name, name, name, Nothing, Nothing, "context:read", name, toolset=toolset)


def template(uri_template: str) -> TemplateEntry:
    return TemplateEntry(uri_template, "n", "d", "text/plain", "f")


@pytest.mark.parametrize("name", ["git/commit", "now v2", "a.b", "", "x" * 65, "메시지"])
def test_a_tool_name_that_clients_refuse_is_refused_here(name):
    with pytest.raises(ValueError, match="clients refuse"):
        tool(name)


def test_two_entries_of_one_name_are_refused():
    with pytest.raises(ValueError, match="twice"):
        Catalogue((tool("a"), tool("a")))


def test_tool_sets_keep_the_order_of_the_catalogue():
    catalogue = Catalogue((tool("a"), tool("b", "profile"), tool("c")))
    assert [entry.name for entry in catalogue.tools_of(["default"])] == ["a", "c"]
    assert [entry.name for entry in catalogue.tools_of(["profile", "default"])] == ["a", "b", "c"]
    assert catalogue.toolsets == ("default", "profile")


def test_an_unknown_tool_set_is_named():
    with pytest.raises(InvalidInputError, match="'nope'") as caught:
        Catalogue((tool("a"),)).tools_of(["default", "nope"])
    assert caught.value.field == "toolsets"


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("context://conversation/s-1", True),
        ("context://conversation/s-1?before=2026-01-01&limit=5", True),
        ("context://conversation/%ED%95%9C", True),
        ("context://conversation/", False),
        ("context://conversation/a/b", False),
        ("context://conversations/a", False),
        ("context://conversation/a#b", False),
    ],
)
def test_a_template_matches_one_segment_and_any_query(uri, expected):
    assert template("context://conversation/{session_id}{?before,limit}").matches(uri) is expected


def test_the_exact_resource_comes_before_a_template():
    exact = ResourceEntry("context://summary", "n", "d", "text/plain", "exact")
    catalogue = Catalogue((), (exact,), (template("context://summary{?query}"),))
    assert catalogue.resource("context://summary") is exact
    assert catalogue.resource("context://summary?query=x") is catalogue.templates[0]
    assert catalogue.resource("context://nope") is None
