"""The part of the SQS API that functions use, so that `boto3` works unchanged.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-making-api-requests-json.html
"""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from satchel.local.queues import QueueError, Queues, digest

_PREFIX = "AmazonSQS."
_MOST_BYTES = 1_048_576


async def answer(request: Request, queues: Queues) -> Response:
    """Do what a signed request asks."""
    action = request.headers.get("x-amz-target", "").removeprefix(_PREFIX)
    raw = await request.body()
    if len(raw) > _MOST_BYTES:
        return _error("InvalidParameterValue", "One or more parameters are invalid.")
    fields: dict[str, Any] = json.loads(raw)
    try:
        if action == "SendMessage":
            body = str(fields["MessageBody"])
            message_id = queues.send(str(fields["QueueUrl"]), body)
            return _json({"MessageId": message_id, "MD5OfMessageBody": digest(body)})
        if action == "ChangeMessageVisibility":
            queues.change_visibility(str(fields["ReceiptHandle"]), float(fields["VisibilityTimeout"]))
            return _json({})
    except QueueError as error:
        return _error("QueueDoesNotExist" if action == "SendMessage" else "ReceiptHandleIsInvalid", str(error))
    return _error("UnsupportedOperation", f"{action} is not served here.")


def _json(body: dict[str, Any], status: int = 200) -> Response:
    return JSONResponse(body, status_code=status, media_type="application/x-amz-json-1.0")


def _error(kind: str, text: str) -> Response:
    return _json({"__type": f"com.amazonaws.sqs#{kind}", "message": text}, 400)
