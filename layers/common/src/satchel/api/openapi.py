"""The OpenAPI 3.1 description of the HTTPS API, from the catalogue and the table of routes."""

from typing import Any

from pydantic import BaseModel

from satchel.api.catalogue import Catalogue
from satchel.api.entry import ToolEntry
from satchel.api.error_table import ERROR_TABLE
from satchel.api.flat_schema import argument_schema
from satchel.api.http_routes import ROUTES, HttpRoute

_ERROR = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "string", "enum": sorted({wire.code for wire in ERROR_TABLE.values()})},
                "field": {"type": ["string", "null"], "description": "Path of the input at fault, `messages[3].role`."},
                "message": {"type": "string"},
                "request_id": {"type": "string"},
            },
            "required": ["code", "field", "message", "request_id"],
        }
    },
    "required": ["error"],
}


def openapi(catalogue: Catalogue, *, base_url: str, version: str) -> dict[str, Any]:
    """The description of everything that is served over plain HTTPS.

    Args:
        catalogue: The tools; each is also `POST /v1/tools/{name}`.
        base_url: The URL the caller reaches the API under, a stage included.
        version: Of this release.
    """
    paths: dict[str, dict[str, Any]] = {}
    for tool in catalogue.tools:
        paths[f"/v1/tools/{tool.name}"] = {"post": _tool_operation(tool)}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _route_operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Satchel", "version": version, "summary": "The context server for LLM agents"},
        "servers": [{"url": base_url}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
            "schemas": {"Error": _ERROR},
        },
    }


def _tool_operation(tool: ToolEntry) -> dict[str, Any]:
    return _operation(
        tool.name,
        tool.title,
        description=tool.description,
        scope=tool.scope,
        request=tool.input_schema,
        response=tool.output_schema,
    )


def _route_operation(route: HttpRoute) -> dict[str, Any]:
    operation = _operation(
        f"{route.method.lower()}{route.path}".replace("/", "_").replace(":", "_").replace("{", "").replace("}", ""),
        route.summary,
        scope=route.scope,
        request=_schema(route.request),
        response=_schema(route.response),
    )
    parameters = [{"name": name, "in": "query", "required": True, "schema": {"type": "string"}} for name in route.query]
    parameters += [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in (part[1:-1] for part in route.path.split("/"))
        if f"{{{name}}}" in route.path and name
    ]
    if route.versioned and route.method == "PUT":
        parameters.append(
            {
                "name": "If-Match",
                "in": "header",
                "description": "Write only over this version (an `ETag` given before).",
                "schema": {"type": "string"},
            }
        )
    return operation | ({"parameters": parameters} if parameters else {})


def _operation(
    operation_id: str,
    summary: str,
    *,
    scope: str | None,
    request: dict[str, Any] | None,
    response: dict[str, Any] | None,
    description: str = "",
) -> dict[str, Any]:
    good: dict[str, Any] = {"description": "Done"}
    if response is not None:
        good["content"] = {"application/json": {"schema": response}}
    told = {
        "description": "An error",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
    operation: dict[str, Any] = {
        "operationId": operation_id,
        "summary": summary,
        "responses": {"200": good, "default": told},
    }
    if description:
        operation["description"] = description
    if scope is not None:
        operation["security"] = [{"token": []}]
        operation["x-scope"] = scope
    if request is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": request}}}
    return operation


def _schema(model: type[BaseModel] | None) -> dict[str, Any] | None:
    return None if model is None else argument_schema(model)
