"""From settings to what cuts sessions that were uploaded. Apart from `wiring`, so that each loads only its own."""

from functools import partial
from tempfile import TemporaryFile
from typing import Any, BinaryIO, cast

from satchel import objects_wiring
from satchel.api.handler import LambdaContext
from satchel.api.uploaded_session import MAX_BYTES, read_session, write_response
from satchel.api.wire.uploads import StartRequest
from satchel.blocks.continuity import shipped_model
from satchel.blocks.streaming import StreamedBuild
from satchel.job_wiring import FILE, submit_job, work_on_job
from satchel.jobs.jobs import Job
from satchel.objects.port import object_key
from satchel.wiring import block_advisor

KIND = "session_blocks"
# A model is asked for at most this time, in seconds, of the quarter of an hour that the worker has.
_MODEL_S = 300.0


def new_upload(user_id: str) -> tuple[str, str]:
    """An unguessable id for an upload, and the link that takes it."""
    return objects_wiring.new_upload(partial(_input, user_id))


def start_job(user_id: str, request: StartRequest) -> Job:
    """The job that cuts an upload, queued.

    Raises:
        InvalidInputError: There is no such upload of this user, or nothing has been sent for it yet.
        TooLargeError: More was uploaded than can be cut.
    """
    objects_wiring.uploaded_size(request.uploadId, partial(_input, user_id), most=MAX_BYTES)
    return submit_job(user_id, kind=KIND, digest=request.digest(), request=request.as_json())


def run_block_job(user_id: str, job_id: str, context: LambdaContext) -> bool:
    """Cut an upload; see `satchel.jobs.jobs.run_job`. Doing it twice gives the same result."""

    def work(job: Job) -> dict[str, Any]:
        request = StartRequest.model_validate(job.request)
        build = StreamedBuild(
            request.sessionId,
            request.options.to_options(),
            continuity=shipped_model(),
            advisor=block_advisor(user_id, context.get_remaining_time_in_millis, within_s=_MODEL_S),
            reserved=request.reserved(),
        )
        place = ("uploads", request.uploadId, f"{job_id}.json")
        objects = objects_wiring.objects()
        with objects.open(_input(user_id, request.uploadId)) as content, TemporaryFile() as target:
            result = cast("BinaryIO", target)
            stats = write_response(build, request.sessionId, read_session(content), result)
            result.seek(0)
            objects.write(object_key(user_id, *place), result)
        return {"stats": stats, FILE: place}

    seconds = context.get_remaining_time_in_millis() / 1000
    return work_on_job(user_id, job_id, claimant=context.aws_request_id, seconds=seconds, work=work)


def _input(user_id: str, upload_id: str) -> str:
    return object_key(user_id, "uploads", upload_id, "messages")
