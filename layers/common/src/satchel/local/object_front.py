"""Takes and gives objects under signed links, as S3 does under presigned ones."""

import asyncio
import tempfile
from collections.abc import Generator
from typing import BinaryIO, cast

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from satchel.errors import ForbiddenError
from satchel.objects.files import FileObjects

PATH = "/local/objects"
_IN_MEMORY_BYTES = 1024 * 1024


def build(objects: FileObjects) -> Starlette:
    """The application, for `PATH`."""

    async def serve(request: Request) -> Response:
        query = request.query_params
        key = query.get("key", "")
        try:
            objects.check(request.method, key, query.get("expires", ""), query.get("signature", ""))
        except ForbiddenError as error:
            return Response(error.message, 403)
        return await (_take if request.method == "PUT" else _give)(objects, key, request)

    return Starlette(routes=[Route(PATH, serve, methods=["GET", "PUT"])])


async def _take(objects: FileObjects, key: str, request: Request) -> Response:
    with tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES) as content:
        try:
            async for chunk in request.stream():
                await asyncio.to_thread(content.write, chunk)
        except ClientDisconnect:
            return Response(status_code=400)
        content.seek(0)
        await asyncio.to_thread(objects.write, key, cast("BinaryIO", content))
    return Response(status_code=200)


async def _give(objects: FileObjects, key: str, _request: Request) -> Response:
    def read() -> Generator[bytes]:
        with objects.open(key) as content:
            while chunk := content.read(_IN_MEMORY_BYTES):
                yield chunk

    if objects.size(key) is None:
        return Response("no such object", 404)
    return StreamingResponse(read(), media_type="application/octet-stream")
