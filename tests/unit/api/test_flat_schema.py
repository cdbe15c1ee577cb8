import json
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from satchel.api.flat_schema import argument_schema, result_schema


class Point(BaseModel):
    """A place on a chart."""

    title: str
    level: int | None = None


class Arguments(BaseModel):
    """For readers of the code."""

    model_config = ConfigDict(extra="forbid")

    points: list[Point]
    side: Literal["buy", "sell"] = "buy"
    either: Point | str | None = Field(None, description="A point, or its name.")


class Tree(BaseModel):
    children: list["Tree"] = []


def test_references_are_inlined_and_titles_of_pydantic_dropped():
    schema = argument_schema(Arguments)
    text = json.dumps(schema)
    assert "$ref" not in text
    assert "$defs" not in text
    point = schema["properties"]["points"]["items"]
    assert point["properties"] == {"title": {"type": "string"}, "level": {"type": "integer"}}
    assert "title" not in schema
    assert "description" not in schema


def test_an_optional_argument_is_described_by_its_type_alone():
    schema = argument_schema(Arguments)
    assert schema["required"] == ["points"]
    assert schema["properties"]["side"] == {"default": "buy", "enum": ["buy", "sell"], "type": "string"}
    assert [branch["type"] for branch in schema["properties"]["either"]["anyOf"]] == ["object", "string"]
    assert schema["properties"]["either"]["description"] == "A point, or its name."


def test_null_stays_in_what_is_written():
    level = result_schema(Point)["properties"]["level"]
    assert level == {"anyOf": [{"type": "integer"}, {"type": "null"}]}


def test_a_result_schema_admits_the_error_object():
    schema = result_schema(Arguments)
    assert schema["type"] == "object"
    assert "required" not in schema
    assert "additionalProperties" not in schema
    assert schema["properties"]["error"] == {"type": "object"}


def test_a_model_that_refers_to_itself_is_refused():
    with pytest.raises(ValueError, match="refers to itself"):
        argument_schema(Tree)


def test_the_same_model_gives_the_same_bytes():
    assert json.dumps(argument_schema(Arguments)) == json.dumps(argument_schema(Arguments))


def test_a_list_of_types_becomes_branches_of_one_type():
    class Stamped(BaseModel):
        at: Annotated[int, WithJsonSchema({"type": ["string", "number"], "description": "When."})]

    assert argument_schema(Stamped)["properties"]["at"] == {
        "description": "When.",
        "anyOf": [{"type": "string"}, {"type": "number"}],
    }
