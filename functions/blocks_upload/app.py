"""`POST /v1/session-blocks:upload` and `:start`: cut a session that is too large for a request."""

from typing import Any

from satchel import blocks_wiring
from satchel.api.envelopes import json_response
from satchel.api.gateway_request import GatewayRequest
from satchel.api.handler import Call, route
from satchel.api.strict_json import parse_json
from satchel.api.validation import validate
from satchel.api.wire.uploads import StartRequest, StartResponse, UploadResponse


@route("blocks_upload", scope="context:read")
def handler(request: GatewayRequest, call: Call) -> dict[str, Any]:
    """Say where a session goes, or start the job that cuts it."""
    if request.path.endswith("start"):
        job = blocks_wiring.start_job(call.user_id, validate(StartRequest, parse_json(request.body())))
        return json_response(202, StartResponse.of(job).model_dump())
    return json_response(200, UploadResponse.of(*blocks_wiring.new_upload(call.user_id)).model_dump())
