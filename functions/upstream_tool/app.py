"""`upstream_tool`: call a tool of another MCP server and cut its answer to what matters, redacted."""

import json
from dataclasses import replace
from typing import Any

from satchel import filter_wiring, upstream_wiring, wiring
from satchel.api.envelopes import HttpEnvelope
from satchel.api.filter_metrics import record_answer
from satchel.api.handler import Call, LambdaContext, tool
from satchel.api.request_log import log_event
from satchel.api.wire.filtering import ConfigIn
from satchel.api.wire.upstream import (
    QUESTION_ARGUMENT,
    ListedTool,
    NoArguments,
    UpstreamArguments,
    UpstreamListing,
    UpstreamResult,
)
from satchel.errors import InvalidInputError
from satchel.filtering.answering import FilterCall, answer
from satchel.filtering.proxying import proxied_call

LIST = "upstream_tools"
_MESSAGE_CHARS = 500


@tool(LIST, NoArguments, scope="context:read")
def list_tools(_arguments: NoArguments, _call: Call) -> UpstreamListing:
    """Every tool of every server that answers."""
    tools, warnings = upstream_wiring.listing()
    for warning in warnings:
        log_event("upstream_left_out", {"reason": warning})
    return UpstreamListing(
        tools=[
            ListedTool(
                name=each.name,
                title=each.title,
                description=each.description,
                input_schema=each.input_schema,
                read_only=each.annotations.get("readOnlyHint") is True,
                destructive=each.annotations.get("destructiveHint") is not False,
                idempotent=each.annotations.get("idempotentHint") is True,
            )
            for each in tools
        ],
        warnings=warnings,
    )


@tool("upstream_tool", UpstreamArguments, scope="context:write")
def call_tool(arguments: UpstreamArguments, call: Call) -> UpstreamResult:
    """Ask the upstream and filter what it answers; see `satchel.filtering.answering`."""
    upstream, found = upstream_wiring.find(arguments.name)
    given = {key: value for key, value in arguments.arguments.items() if key != QUESTION_ARGUMENT}
    question = arguments.arguments.get(QUESTION_ARGUMENT)
    if question is not None and not isinstance(question, str):
        raise InvalidInputError(f"{QUESTION_ARGUMENT} must be text", field=QUESTION_ARGUMENT)
    answered = upstream_wiring.ask(upstream, found, given, call)
    tool_name = f"{found.server} {found.original}"
    config = ConfigIn()
    if answered.is_error:
        told = filter_wiring.sanitiser().sanitise(answered.value, tool_name=tool_name).value
        raise InvalidInputError(f"the upstream tool failed: {str(told)[:_MESSAGE_CHARS]}")
    reader = filter_wiring.model_reader(tool_name, config, call)
    engine = filter_wiring.engine(tool_name, config, reader)
    request = FilterCall(tool_name=tool_name, arguments=given, response=answered.value, question=question)
    result = answer(
        replace(request, intent=proxied_call(request, engine.profile, wiring.clock().date())),
        engine=engine,
        store=filter_wiring.filter_store(call.user_id),
        new_handle=filter_wiring.new_handle,
        clock=wiring.clock,
        improve=reader.improve if reader else None,
    )
    record_answer(result, kind=engine.profile.name)
    return UpstreamResult.of(result, answered.attachments)


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Serve a listing, a call by the adapter, or `POST /v1/tools/{name}`."""
    if "requestContext" in event:
        return call_tool(_named_by_path(event), context)
    name = event.get("tool")
    if name == LIST:
        return list_tools(event, context)
    return call_tool({**event, "arguments": {"name": name, "arguments": event.get("arguments", {})}}, context)


def _named_by_path(event: dict[str, Any]) -> dict[str, Any]:
    """The event with the path's name and the body's arguments as one body."""
    envelope = HttpEnvelope(event, "")
    name = (event.get("pathParameters") or {}).get("name", "")
    try:
        body = {"name": name, "arguments": envelope.arguments()}
    except InvalidInputError:
        return event  # what cannot be read is told where every error is told
    return {**event, "body": json.dumps(body), "isBase64Encoded": False}
