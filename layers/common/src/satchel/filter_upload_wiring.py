"""From settings to uploaded answers of tools. Apart from `filter_wiring`: few requests need it."""

import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import contextmanager
from typing import Any, BinaryIO

from satchel import objects_wiring
from satchel.errors import InvalidInputError, NotFoundError, TooLargeError
from satchel.filtering import json_stream
from satchel.objects.port import object_key

# What is read and filtered within one request's half minute.
MAX_BYTES = 128 * 1024 * 1024
_BLOCK_BYTES = 256 * 1024
_FIELD = "uploadId"


def new_upload(user_id: str) -> tuple[str, str]:
    """An unguessable id for an upload, and the link that takes it."""
    upload_id = secrets.token_hex(16)
    return upload_id, objects_wiring.objects().upload_link(_key(user_id, upload_id))


@contextmanager
def uploaded(user_id: str, upload_id: str) -> Generator[tuple[BinaryIO, int]]:
    """What a user uploaded, to be read in pieces, and its size in bytes.

    Raises:
        InvalidInputError: There is no such upload of this user, or nothing has been sent for it yet.
        TooLargeError: It is over 128 MiB.
    """
    objects = objects_wiring.objects()
    try:
        key = _key(user_id, upload_id)
        size = objects.size(key)
    except NotFoundError:
        key, size = "", None
    if size is None:
        raise InvalidInputError("there is no such upload, or nothing was sent for it", field=_FIELD)
    if size > MAX_BYTES:
        raise TooLargeError(f"at most {MAX_BYTES // 1024 // 1024} MiB can be uploaded", field=_FIELD)
    with objects.open(key) as content:
        yield content, size


async def items(content: BinaryIO, *, path: str) -> AsyncGenerator[list[Any]]:
    """The items of what was uploaded, in chunks; see `satchel.filtering.json_stream.items`.

    Raises:
        InvalidInputError: It is not JSON; the message says where.
        TooLargeError: One of its items is over 16 MB.
    """
    try:
        async for chunk in json_stream.items(_blocks(content), path=path):
            yield chunk
    except (InvalidInputError, TooLargeError) as error:
        raise type(error)(error.message, field=_FIELD) from error


async def _blocks(content: BinaryIO) -> AsyncIterator[bytes]:
    while block := content.read(_BLOCK_BYTES):
        yield block


def _key(user_id: str, upload_id: str) -> str:
    return object_key(user_id, "responses", upload_id)
