"""The catalogue as clients see it: every schema, every name (the open case BB-07)."""

import json
import re
import subprocess
import sys

import jsonschema
import pytest

from satchel.api.listing import catalogue, registered
from satchel.api.mcp.handlers import _wire_tool

TOOLS = [_wire_tool(tool) for tool in catalogue().tools]
DEFAULT_ORDER = (
    "save_message",
    "search_conversation",
    "build_session_blocks",
    "filter_response",
    "list_strategies",
    "read_strategy",
    "write_strategy",
    "run_backtest",
    "get_watchlist",
    "get_positions",
    "execute_trade",
    "run_python",
)


def walk(node, path="$"):
    yield path, node
    if isinstance(node, dict):
        for key, value in node.items():
            yield from walk(value, f"{path}.{key}")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from walk(value, f"{path}[{index}]")


@pytest.mark.parametrize("tool", TOOLS, ids=[tool["name"] for tool in TOOLS])
@pytest.mark.parametrize("kind", ["inputSchema", "outputSchema"])
def test_every_schema_is_flat_and_valid(tool, kind):
    schema = tool[kind]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf", "$ref", "$defs"} & schema.keys()
    for path, node in walk(schema):
        if isinstance(node, dict):
            assert not {"$ref", "$defs", "definitions"} & node.keys(), path


@pytest.mark.parametrize("tool", TOOLS, ids=[tool["name"] for tool in TOOLS])
def test_ids_go_out_as_strings(tool):
    for path, node in walk(tool["outputSchema"]):
        if re.search(r"\.properties\.(id|\w+_id)$", path):
            assert node.get("type") == "string" or {"type": "string"} in node.get("anyOf", []), path


@pytest.mark.parametrize("tool", TOOLS, ids=[tool["name"] for tool in TOOLS])
def test_an_error_fits_the_output_schema_too(tool):
    error = {"error": {"code": "invalid_input", "field": None, "message": "m", "request_id": "r"}}
    jsonschema.validate(error, tool["outputSchema"])


@pytest.mark.parametrize("tool", TOOLS, ids=[tool["name"] for tool in TOOLS])
def test_every_tool_is_described_and_annotated(tool):
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool["name"])
    assert tool["title"]
    assert len(tool["description"]) > 20
    assert set(tool["annotations"]) == {"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}


def test_the_default_tools_are_those_of_the_contract_in_its_order():
    names = [tool.name for tool in catalogue().tools_of(["default"])]
    assert names == [name for name in DEFAULT_ORDER if name in names]
    assert len(names) <= 12


def test_tools_of_a_live_account_are_listed_only_where_there_is_one():
    live = {"execute_live_trade", "live_order"}
    assert {tool.name for tool in catalogue().tools} - {tool.name for tool in registered(live=False).tools} == live
    assert {tool.name for tool in registered(live=True).tools_of(["live"])} == live
    assert "live" not in registered(live=False).toolsets
    assert all(tool.scope == "trade:live" for tool in registered(live=True).tools_of(["live"]))


def test_the_default_definitions_are_small():
    listed = [_wire_tool(tool) for tool in catalogue().tools_of(["default"])]
    text = json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
    # Four characters a token is what JSON of this kind comes to, on the generous side.
    assert len(text) / 4 <= 8_000


def test_the_list_is_the_same_in_every_process():
    script = (
        "import json; from satchel.api.listing import catalogue; from satchel.api.mcp.handlers import _wire_tool;"
        "print(json.dumps([_wire_tool(tool) for tool in catalogue().tools]))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {json.dumps(TOOLS) + "\n"}


def test_the_adapter_loads_no_driver_and_no_model():
    script = (
        "import sys, functions.mcp_adapter.app;"
        "print(sorted({'psycopg', 'anthropic', 'onnxruntime', 'boto3', 'numpy', 'fastapi'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"
