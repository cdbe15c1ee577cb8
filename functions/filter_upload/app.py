"""`POST /v1/responses:upload`: say where a tool's answer goes that is too large for a request."""

from typing import Any

from satchel import filter_upload_wiring
from satchel.api.envelopes import json_response
from satchel.api.gateway_request import GatewayRequest
from satchel.api.handler import Call, route
from satchel.api.wire.response_upload import ResponseUpload


@route("filter_upload", scope="context:write")
def handler(_request: GatewayRequest, call: Call) -> dict[str, Any]:
    """Give the upload's id and link; `filter_response` then takes the id in place of the answer."""
    return json_response(200, ResponseUpload.of(*filter_upload_wiring.new_upload(call.user_id)).model_dump())
