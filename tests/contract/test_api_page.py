"""`docs/api.md` against the catalogue, the error table and the template."""

import re
from pathlib import Path

import pytest

from satchel.api.error_table import ERROR_TABLE, INTERNAL
from satchel.api.http_routes import ROUTES
from satchel.api.listing import catalogue
from tests.contract.test_template import APPLICATION, FUNCTIONS

PAGE = Path("docs/api.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (\w+)\n(.*?)(?=^##? |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def test_every_function_has_its_section_and_every_section_is_a_function_or_the_conventions():
    assert SECTIONS.keys() == FUNCTIONS.keys() | {"Conventions"}


@pytest.mark.parametrize("tool", catalogue().tools, ids=lambda tool: tool.name)
def test_a_tool_is_told_with_its_scope_its_arguments_and_what_it_answers(tool):
    section = SECTIONS[tool.function]
    assert f"`{tool.scope}`" in section
    told = {
        name.rstrip("?") for name in re.findall(r"`(\w+\??)`", "".join(re.findall(r"^\| `.*", section, re.MULTILINE)))
    }
    required = set(tool.input_schema.get("required", []))
    for argument in tool.input_schema["properties"]:
        assert argument in told
        assert (f"`{argument}?`" in section) != (argument in required)
    answer = section.partition("Answer:")[2]
    assert {name for name in tool.output_schema["properties"] if name != "error"} <= set(re.findall(r"\w+", answer))


@pytest.mark.parametrize("resource", [*catalogue().resources, *catalogue().templates], ids=lambda entry: entry.name)
def test_a_resource_is_told_with_its_uri_and_type(resource):
    section = SECTIONS[resource.function]
    uri = getattr(resource, "uri", None) or resource.uri_template
    assert f"`{uri}`" in section
    assert f"`{resource.mime_type}`" in section


def test_every_error_is_told_with_its_status():
    for wire in (*ERROR_TABLE.values(), INTERNAL):
        assert f"| `{wire.code}` | {wire.status} |" in PAGE


def test_every_route_is_described_and_every_described_route_is_served():
    served = {(route.method, route.path) for route in APPLICATION.routes}
    described = {(route.method, route.path) for route in ROUTES}
    # The adapter answers every method under /mcp, most of them with 405 or 404; and the metadata under two names.
    assert described - served == {("POST", "/mcp")}
    tools = {("POST", f"/v1/tools/{tool.name}") for tool in catalogue().tools}
    spare = {("ANY", "/mcp"), ("ANY", "/mcp/{proxy+}"), ("GET", "/.well-known/oauth-protected-resource/mcp")}
    assert served - described == tools | spare
    for method, path in described:
        assert f"`{method} {path}`" in PAGE
