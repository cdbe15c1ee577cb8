"""`build_session_blocks`, also `POST /v1/session-blocks:build`: cut a session that is sent into topical blocks."""

from satchel import wiring
from satchel.api.handler import Call, tool
from satchel.api.request_log import log_work
from satchel.api.wire.blocks import BuildRequest
from satchel.api.wire.built_blocks import BuildResponse
from satchel.blocks.building import build_session_blocks
from satchel.blocks.continuity import shipped_model


@tool("build_session_blocks", BuildRequest, scope="context:read")
def handler(request: BuildRequest, call: Call) -> BuildResponse:
    """Build the blocks; see `satchel.blocks.building`."""
    result = build_session_blocks(
        request.to_session(),
        request.options.to_options(),
        continuity=shipped_model(),
        advisor=wiring.block_advisor(call.user_id, call.remaining_ms),
    )
    log_work(
        "build_blocks",
        call.request_id,
        messages=result.messages,
        blocks=len(result.blocks),
        llm_calls=result.shift_calls + result.summary_calls,
    )
    return BuildResponse.of(result)
