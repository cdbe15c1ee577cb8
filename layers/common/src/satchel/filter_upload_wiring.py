"""From settings to uploaded answers of tools. Apart from `filter_wiring`: few requests need it."""

from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO

from satchel import objects_wiring
from satchel.errors import InvalidInputError, TooLargeError
from satchel.filtering import json_stream
from satchel.objects.port import object_key

# What is read and filtered within one request's half minute.
MAX_BYTES = 128 * 1024 * 1024
_BLOCK_BYTES = 256 * 1024


def new_upload(user_id: str) -> tuple[str, str]:
    """An unguessable id for an upload, and the link that takes it."""
    return objects_wiring.new_upload(partial(_key, user_id))


@contextmanager
def uploaded(user_id: str, upload_id: str) -> Generator[tuple[BinaryIO, int]]:
    """What a user uploaded, to be read in pieces, and its size in bytes.

    Raises:
        InvalidInputError: There is no such upload of this user, or nothing has been sent for it yet.
        TooLargeError: It is over 128 MiB.
    """
    size = objects_wiring.uploaded_size(upload_id, partial(_key, user_id), most=MAX_BYTES)
    with objects_wiring.objects().open(_key(user_id, upload_id)) as content:
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
        raise type(error)(error.message, field="uploadId") from error


async def _blocks(content: BinaryIO) -> AsyncIterator[bytes]:
    while block := content.read(_BLOCK_BYTES):
        yield block


def _key(user_id: str, upload_id: str) -> str:
    return object_key(user_id, "responses", upload_id)
