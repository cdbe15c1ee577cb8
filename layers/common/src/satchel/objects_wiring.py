"""From settings to where large things are kept. Apart from `wiring`, so that no database driver comes with it."""

import os
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from satchel.errors import InvalidInputError, NotFoundError, TooLargeError, UnavailableError
from satchel.objects.files import FileObjects
from satchel.objects.port import Objects
from satchel.objects.s3 import S3Objects
from satchel.settings import Settings


@cache
def objects() -> Objects:
    """Where this installation keeps them: its bucket, or a laptop's folder.

    Raises:
        UnavailableError: It has neither.
    """
    settings = Settings.from_environment(os.environ)
    if settings.objects_bucket:
        return S3Objects(settings.objects_bucket)
    if not settings.objects_folder:
        raise UnavailableError("no place for large things is configured", retry_after_s=3600)
    return FileObjects(
        Path(settings.objects_folder),
        url=settings.objects_url,
        secret=settings.objects_key,
        clock=lambda: datetime.now(UTC),
    )


def new_upload(key_of: Callable[[str], str]) -> tuple[str, str]:
    """An unguessable id for an upload, and the link that takes it to the key of that id."""
    upload_id = secrets.token_hex(16)
    return upload_id, objects().upload_link(key_of(upload_id))


def uploaded_size(upload_id: str, key_of: Callable[[str], str], *, most: int) -> int:
    """The size in bytes of what was sent for an upload.

    Raises:
        InvalidInputError: There is no such upload of this user, or nothing has been sent for it yet.
        TooLargeError: It is over `most` bytes.
    """
    try:
        size = objects().size(key_of(upload_id))
    except NotFoundError:
        size = None
    if size is None:
        raise InvalidInputError("there is no such upload, or nothing was sent for it", field="uploadId")
    if size > most:
        raise TooLargeError(f"at most {most // 1024 // 1024} MiB can be uploaded", field="uploadId")
    return size
