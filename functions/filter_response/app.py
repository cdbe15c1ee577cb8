"""`filter_response`: cut a tool's answer to what matters, redacted, with an account of what was cut."""

import asyncio

from satchel import filter_wiring, wiring
from satchel.api.filter_metrics import record_answer
from satchel.api.filter_request import filter_call
from satchel.api.handler import Call, tool
from satchel.api.wire.filtering import FilterArguments, FilterResult
from satchel.filtering.answering import answer, read_intent, told


@tool("filter_response", FilterArguments, scope="context:write")
def handler(arguments: FilterArguments, call: Call) -> FilterResult:
    """Filter the answer; see `satchel.filtering.answering`."""
    if arguments.uploadId is not None:
        return asyncio.run(_uploaded(arguments, arguments.uploadId, call))
    reader = filter_wiring.model_reader(arguments.tool.name, arguments.config, call)
    engine = filter_wiring.engine(arguments.tool.name, arguments.config, reader)
    answered = answer(
        filter_call(arguments),
        engine=engine,
        store=filter_wiring.filter_store(call.user_id),
        new_handle=filter_wiring.new_handle,
        clock=wiring.clock,
        improve=reader.improve if reader else None,
        known=filter_wiring.known_intents(),
    )
    record_answer(answered, kind=engine.profile.name)
    return FilterResult.of(answered)


async def _uploaded(arguments: FilterArguments, upload_id: str, call: Call) -> FilterResult:
    """Filter what was uploaded, as it is read."""
    from satchel import filter_upload_wiring  # noqa: PLC0415 - only for an upload
    from satchel.api.filter_metrics import record_stream  # noqa: PLC0415
    from satchel.filtering.streamed_response import filter_stream  # noqa: PLC0415
    from satchel.filtering.streaming import StreamingFilter  # noqa: PLC0415

    request = filter_call(arguments)
    engine = filter_wiring.engine(request.tool_name, arguments.config, None)
    now = wiring.clock()
    started = engine.timer()
    intent = read_intent(request, engine.profile, now.date(), known=filter_wiring.known_intents())
    intent_latency_ms = (engine.timer() - started) * 1_000
    with filter_upload_wiring.uploaded(call.user_id, upload_id) as (content, size):
        chunks = filter_upload_wiring.items(content, path=arguments.itemsPath)
        stream = StreamingFilter(intent, engine.profile)
        result, state = await filter_stream(
            stream, chunks, engine=engine, tool_name=request.tool_name, size=size, explain=request.explain
        )
    store = filter_wiring.filter_store(call.user_id)
    answered = told(
        request,
        result,
        intent,
        intent_latency_ms,
        engine=engine,
        store=store,
        new_handle=filter_wiring.new_handle,
        now=now,
    )
    record_answer(answered, kind=engine.profile.name)
    record_stream(state, kind=engine.profile.name)
    return FilterResult.of(answered)
