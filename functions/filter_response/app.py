"""`filter_response`: cut a tool's answer to what matters, redacted, with an account of what was cut."""

from satchel import filter_wiring, wiring
from satchel.api.filter_metrics import record_answer
from satchel.api.filter_request import filter_call
from satchel.api.handler import Call, tool
from satchel.api.wire.filtering import FilterArguments, FilterResult
from satchel.filtering.answering import answer


@tool("filter_response", FilterArguments, scope="context:write")
def handler(arguments: FilterArguments, call: Call) -> FilterResult:
    """Filter the answer; see `satchel.filtering.answering`."""
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
