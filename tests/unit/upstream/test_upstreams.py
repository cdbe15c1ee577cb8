import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.api.flat_schema import foreign_schema
from satchel.errors import InvalidInputError, UnavailableError
from satchel.upstream.configuration import Upstream, load_upstreams
from satchel.upstream.listing import list_upstream_tools
from satchel.upstream.naming import mapped_names
from satchel.upstream.results import MAX_PAGES, UpstreamAnswer, drain, read_result

LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def test_servers_are_read_in_the_form_that_clients_use():
    text = """{"mcpServers": {
        "slack": {"command": "npx", "args": ["-y", "slack"], "env": {"TOKEN": "t"}},
        "db": {"type": "http", "url": "https://db.example/mcp", "headers": {"Authorization": "x"}, "timeout_s": 5},
        "off": {"command": "x", "disabled": true}
    }}"""
    slack, db = load_upstreams(text)
    assert (slack.command, slack.args, dict(slack.env)) == ("npx", ("-y", "slack"), {"TOKEN": "t"})
    assert (db.url, dict(db.headers), db.timeout_s) == ("https://db.example/mcp", {"Authorization": "x"}, 5.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n"mcpServers": }', "line 2"),
        ("[]", "the file must be an object"),
        ('{"mcpServers": {"a": {}}}', "mcpServers.a needs either command or url"),
        ('{"mcpServers": {"a": {"command": "x", "url": "http://y"}}}', "needs either"),
        ('{"mcpServers": {"a": {"command": "x", "colour": 1}}}', "mcpServers.a.colour is not a setting"),
        ('{"mcpServers": {"a": {"command": "x", "args": [1]}}}', "mcpServers.a.args"),
        ('{"mcpServers": {"a": {"command": "x", "env": {"A": 1}}}}', "mcpServers.a.env"),
        ('{"mcpServers": {"a": {"url": "ftp://x"}}}', "mcpServers.a.url"),
        ('{"mcpServers": {"a": {"command": "x", "timeout_s": 0}}}', "mcpServers.a.timeout_s"),
        ('{"mcpServers": ' + "[" * 100_000, "not JSON"),
    ],
)
def test_a_mistake_is_refused_with_its_place_and_without_values(text, message):
    with pytest.raises(InvalidInputError, match=message):
        load_upstreams(text)


def test_a_name_that_clients_refuse_is_mapped():
    [name] = mapped_names([("git", "git/commit.now v2")])
    assert name == "git__git_commit_now_v2"


pairs = st.lists(
    st.tuples(st.text(min_size=1, max_size=50), st.text(min_size=1, max_size=90)), max_size=12, unique=True
)


@given(pairs)
def test_every_mapped_name_is_legal_unique_and_its_own(tools):
    names = mapped_names(tools)
    assert list(names.values()) == tools
    assert all(LEGAL.fullmatch(name) for name in names)
    assert mapped_names(reversed(tools)) == names


def tool(name: Any, schema: Any = None) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"} if schema is None else schema}


def test_one_bad_tool_or_server_leaves_the_rest_usable():
    loop = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}}
    linked = {
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/A"}},
        "definitions": {"A": {"type": "string"}},
    }
    listed = {
        "good": [
            tool("a.b"),
            tool("a b"),
            tool(7),
            tool("loop", loop),
            tool("array", {"type": "array"}),
            tool("linked", linked),
            tool("a b"),
        ]
    }

    def fetch(upstream: Upstream) -> list[dict[str, Any]]:
        if upstream.name not in listed:
            raise UnavailableError(f"the upstream server {upstream.name} cannot be reached")
        return listed[upstream.name]

    tools, warnings = list_upstream_tools(
        [Upstream("away", command="x"), Upstream("good", command="x")], fetch=fetch, flatten=foreign_schema
    )
    assert [each.original for each in tools] == ["a.b", "a b", "linked"]
    assert len({each.name for each in tools}) == 3
    assert tools[2].input_schema["properties"] == {"a": {"type": "string"}}
    assert len(warnings) == 5
    assert warnings[0] == "the upstream server away cannot be reached"


def test_a_result_is_read_as_json_where_it_is_json():
    text = {"type": "text", "text": '{"a": 1}'}
    assert read_result({"content": [text]}).value == {"a": 1}
    assert read_result({"content": [text, text]}).value == [{"a": 1}, {"a": 1}]
    assert (
        read_result({"content": [{"type": "text", "text": "[not"}, {"type": "text", "text": "b"}]}).value == "[not\nb"
    )
    answer = read_result({"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}], "isError": True})
    assert (answer.value, answer.is_error) == ("", True)
    assert answer.attachments == [{"type": "image", "mimeType": "image/png", "chars": 4}]
    assert read_result({"content": [], "structuredContent": {"b": 2}}).value == {"b": 2}


SCHEMA = {"properties": {"cursor": {}}}


def pages(count: int, asked: list[Any]) -> Any:
    def call(arguments: dict[str, Any]) -> UpstreamAnswer:
        asked.append(arguments.get("cursor"))
        number = int(arguments.get("cursor") or 0)
        following = str(number + 1) if number + 1 < count else ""
        return UpstreamAnswer({"ok": True, "data": {"items": [number]}, "meta": {"next_cursor": following}})

    return call


def test_pages_are_drained_into_one_answer():
    asked: list[Any] = []
    call = pages(4, asked)
    whole = drain(call({"q": 1}), {"q": 1}, SCHEMA, call, has_time=lambda: True)
    assert whole.value == {"ok": True, "data": {"items": [0, 1, 2, 3]}, "meta": {"next_cursor": ""}}
    assert asked == [None, "1", "2", "3"]


def test_draining_is_bounded_and_says_that_there_is_more():
    call = pages(1_000, [])
    whole = drain(call({}), {}, SCHEMA, call, has_time=lambda: True)
    assert len(whole.value["data"]["items"]) == MAX_PAGES
    assert whole.value["meta"]["next_cursor"] == str(MAX_PAGES)
    assert drain(call({}), {}, SCHEMA, call, has_time=lambda: False).value["meta"]["next_cursor"] == "1"


def test_what_is_not_paged_is_one_page():
    call = pages(9, [])
    first = call({})
    assert drain(first, {}, {"properties": {"q": {}}}, call, has_time=lambda: True) is first
    assert drain(first, {"cursor": "3"}, SCHEMA, call, has_time=lambda: True) is first
    plain = UpstreamAnswer("text")
    assert drain(plain, {}, SCHEMA, call, has_time=lambda: True) is plain


def test_a_page_that_fails_ends_the_draining():
    first = UpstreamAnswer({"items": [1], "next_cursor": "x"})
    whole = drain(first, {}, SCHEMA, lambda _arguments: UpstreamAnswer("no", is_error=True), has_time=lambda: True)
    assert whole.value == first.value
