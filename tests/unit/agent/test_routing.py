import re

from satchel.agent.routing import Tool, toolbox

SCHEMA = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"}}}


def tool(name, server="user", schema=SCHEMA):
    return Tool(server, name, f"{server} {name}", schema)


def test_names_are_legal_and_unique_and_lead_to_their_tool():
    tools = [tool("git/commit.now v2"), tool("git_commit_now_v2"), tool("current_time"), tool("x" * 80)]
    box = toolbox([tools, [tool("current_time", "platform"), tool("x" * 80, "platform")]])
    assert len(box.by_name) == 6
    for name in box.by_name:
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name)
    assert box.by_name["git_commit_now_v2"].name == "git/commit.now v2"
    assert box.by_name["platform__current_time"].server == "platform"


def test_what_the_gateway_does_itself_is_kept_back_and_a_bad_schema_left_out():
    box = toolbox([[tool("save_message"), tool("filter_response"), tool("bad", schema={"type": "string"}), tool("ok")]])
    assert list(box.by_name) == ["ok"]


def test_definitions_have_one_spelling():
    turned = {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "type": "object"}
    assert repr(toolbox([[tool("t")]]).definitions) == repr(toolbox([[tool("t", schema=turned)]]).definitions)
