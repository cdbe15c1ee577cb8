"""From settings to where large things are kept. Apart from `wiring`, so that no database driver comes with it."""

import os
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from satchel.errors import UnavailableError
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
