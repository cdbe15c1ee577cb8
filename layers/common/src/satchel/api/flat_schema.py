"""JSON Schemas that every MCP client can read, derived from pydantic models.

Some clients resolve no `$ref`, and then drop not one tool but the whole list. So references are inlined, the root is
always a plain object, and what pydantic adds for itself (titles, `default: null`) is left out. The same model gives
the same schema, byte for byte.
"""

import json
from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel

Schema = dict[str, Any]

_COMPOSITIONS = ("anyOf", "oneOf", "allOf")
# Keywords whose value is a mapping from names to schemas: a property called "title" is not a title.
_SCHEMA_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas"})
# Keywords whose value is data and must be copied as it stands.
_DATA = frozenset({"default", "const", "enum", "examples", "required"})


def argument_schema(model: type[BaseModel]) -> Schema:
    """Return the flat schema of what `model` accepts.

    An optional argument is described by its type alone: leaving it out is how a caller says "none".

    Raises:
        ValueError: The model refers to itself, or its root is not an object.
    """
    return _root(model.model_json_schema(mode="validation"), nullable=False)


def result_schema(model: type[BaseModel]) -> Schema:
    """Return the flat schema of what `model` is written as, in a form that also admits the error object.

    The TypeScript SDK 1.x checks `structuredContent` against the output schema even when `isError` is set, so the
    root requires nothing and names `error`.

    Raises:
        ValueError: The model refers to itself, or its root is not an object.
    """
    schema = _root(model.model_json_schema(mode="serialization"), nullable=True)
    schema.pop("required", None)
    schema.pop("additionalProperties", None)
    schema["properties"] = {**schema.get("properties", {}), "error": {"type": "object"}}
    return schema


def foreign_schema(schema: Mapping[str, Any]) -> Schema:
    """Return a flat form of the arguments' schema of somebody else's tool.

    Raises:
        ValueError: It refers to itself or to what is not in it, or its root is not an object.
    """
    copied = dict(schema)
    definitions = {**cast("Schema", copied.pop("definitions", {})), **cast("Schema", copied.get("$defs", {}))}
    text = json.dumps(copied).replace("#/definitions/", "#/$defs/")
    try:
        root = _root({**json.loads(text), "$defs": definitions}, nullable=False)
    except (KeyError, RecursionError, TypeError, AttributeError) as error:
        raise ValueError("the schema cannot be written flat") from error
    return root


def _root(schema: Schema, *, nullable: bool) -> Schema:
    definitions = cast("Mapping[str, Schema]", schema.pop("$defs", {}))
    flat = _flatten(schema, definitions, (), nullable=nullable)
    if flat.get("type") != "object" or any(keyword in flat for keyword in _COMPOSITIONS):
        raise ValueError("the root of a tool's schema must be a plain object")
    flat.pop("description", None)  # the model's docstring is for its readers; the tool has its own description
    return flat


def _flatten(node: Any, definitions: Mapping[str, Schema], trail: tuple[str, ...], *, nullable: bool) -> Any:
    if isinstance(node, list):
        return [_flatten(item, definitions, trail, nullable=nullable) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    schema = _without_null(cast("Schema", node), nullable=nullable)
    if "$ref" in schema:
        name = cast("str", schema["$ref"]).removeprefix("#/$defs/")
        if name in trail:
            raise ValueError(f"{name} refers to itself; a flat schema cannot say that")
        siblings = {key: value for key, value in schema.items() if key != "$ref"}
        return _flatten({**definitions[name], **siblings}, definitions, (*trail, name), nullable=nullable)
    flat: Schema = {}
    for keyword, value in _one_type_each(schema).items():
        if keyword == "title" or (keyword == "default" and value is None):
            continue
        if keyword in _DATA:
            flat[keyword] = value
        elif keyword in _SCHEMA_MAPS:
            entries = cast("Mapping[str, Any]", value).items()
            flat[keyword] = {name: _flatten(sub, definitions, trail, nullable=nullable) for name, sub in entries}
        elif keyword != "discriminator":  # an OpenAPI keyword that points at $defs
            flat[keyword] = _flatten(value, definitions, trail, nullable=nullable)
    return flat


def _without_null(schema: Schema, *, nullable: bool) -> Schema:
    """Return `schema` with the null branch of `X | None` taken out, unless null is part of what is written."""
    branches = cast("list[Schema]", schema.get("anyOf", []))
    kept = [branch for branch in branches if branch.get("type") != "null"]
    if nullable or len(kept) == len(branches):
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    if len(kept) == 1:
        return {**kept[0], **rest}
    return {**rest, "anyOf": kept}


def _one_type_each(schema: Schema) -> Schema:
    """Return `schema` with a list of types written as branches of one type each: some model APIs take no list."""
    types = schema.get("type")
    if not isinstance(types, list):
        return schema
    rest = {key: value for key, value in schema.items() if key != "type"}
    return {**rest, "anyOf": [{"type": one} for one in cast("list[str]", types)]}
