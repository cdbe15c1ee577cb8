"""What the Messages API refuses, as far as the fake checks it; each rule gives the API's sentence or None."""

import re
from collections.abc import Mapping
from typing import Any, cast

from satchel.local.fake_claude.conversation_rules import conversation_refusal

_FIELDS = frozenset({
    "model", "max_tokens", "messages", "system", "output_config", "temperature", "top_p", "top_k", "stop_sequences",
    "stream", "tools", "tool_choice", "thinking", "metadata", "service_tier", "cache_control", "container",
    "context_management", "mcp_servers", "inference_geo",
})  # fmt: skip
_MAX_OUTPUT_TOKENS = 128_000
_SAMPLING = ("temperature", "top_p", "top_k")
_TAKES_SAMPLING = re.compile(r"claude-(?:3\b|(?:haiku|sonnet|opus)-4(?:-[0-6])?(?:-\d{8})?(?:$|[-:@]))")
_UNSUPPORTED_KEYWORDS = frozenset({"minimum", "maximum", "minLength", "maxLength", "maxItems", "multipleOf", "$ref"})


def refusal_of(body: Any) -> str | None:
    """Why the API would answer 400 to this body; None where it would not."""
    if not isinstance(body, dict):
        return "request body must be a JSON object"
    fields = cast("dict[str, Any]", body)
    return next(
        filter(None, (rule(fields) for rule in (_fields, _messages, _sampling, _output, conversation_refusal))), None
    )


def _fields(body: Mapping[str, Any]) -> str | None:
    for name in ("model", "max_tokens", "messages"):
        if name not in body:
            return f"{name}: Field required"
    unknown = sorted(set(body) - _FIELDS)
    if unknown:
        return f"{unknown[0]}: Extra inputs are not permitted"
    limit = body["max_tokens"]
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        return "max_tokens: Input should be greater than or equal to 1"
    if limit > _MAX_OUTPUT_TOKENS:
        which = f"which is the maximum allowed number of output tokens for {body['model']}"
        return f"max_tokens: {limit} > {_MAX_OUTPUT_TOKENS}, {which}"
    return None


def _messages(body: Mapping[str, Any]) -> str | None:
    messages = body["messages"]
    if not isinstance(messages, list) or not messages:
        return "messages: at least one message is required"
    for index, message in enumerate(cast("list[Any]", messages)):
        fields = cast("dict[str, Any]", message) if isinstance(message, dict) else {}
        if fields.get("role") not in ("user", "assistant"):
            return f"messages.{index}.role: Input should be 'user' or 'assistant'"
        if not fields.get("content"):
            return f"messages.{index}: content must not be empty"
    if messages[0]["role"] != "user":
        return 'messages: first message must use the "user" role'
    return None


def _sampling(body: Mapping[str, Any]) -> str | None:
    if _TAKES_SAMPLING.search(str(body["model"])):
        return None
    used = next((name for name in _SAMPLING if name in body), None)
    return f"{used}: not supported by this model" if used else None


def _output(body: Mapping[str, Any]) -> str | None:
    config: dict[str, Any] = body.get("output_config") or {}
    form: dict[str, Any] | None = config.get("format")
    if form is None:
        return None
    if form.get("type") != "json_schema" or not isinstance(form.get("schema"), dict):
        return "output_config.format: a JSON schema is required"
    return _schema(form["schema"], "output_config.format.schema")


def _schema(schema: Any, path: str) -> str | None:
    if isinstance(schema, list):
        inner = enumerate(cast("list[Any]", schema))
        return next(filter(None, (_schema(item, f"{path}.{index}") for index, item in inner)), None)
    if not isinstance(schema, dict):
        return None
    keywords = cast("dict[str, Any]", schema)
    if keywords.get("type") == "object" and keywords.get("additionalProperties") is not False:
        return f"{path}: 'additionalProperties' must be set to false for object types"
    wrong = sorted(_UNSUPPORTED_KEYWORDS & set(keywords)) if "type" in keywords else []
    if wrong:
        return f"{path}: '{wrong[0]}' is not supported"
    return next(filter(None, (_schema(value, f"{path}.{key}") for key, value in keywords.items())), None)
