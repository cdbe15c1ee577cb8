"""Objects as files of one folder, for a laptop: links lead to a server beside it that checks what we signed."""

import hashlib
import hmac
import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Literal
from urllib.parse import urlencode

from satchel.errors import ForbiddenError, NotFoundError
from satchel.objects.port import LIFETIME, LINK_S

Method = Literal["GET", "PUT"]


class FileObjects:
    """See `satchel.objects.port.Objects`.

    Args:
        folder: Where the files are; made when the first is kept.
        url: Where the folder is served, without a query.
        secret: What links are signed with.
        clock: The time, aware UTC.
    """

    def __init__(self, folder: Path, *, url: str, secret: str, clock: Callable[[], datetime]) -> None:
        self._folder = folder
        self._url = url
        self._secret = secret.encode()
        self._clock = clock

    def upload_link(self, key: str) -> str:
        """See `Objects.upload_link`."""
        return self._link("PUT", key)

    def download_link(self, key: str) -> str:
        """See `Objects.download_link`."""
        return self._link("GET", key)

    def size(self, key: str) -> int | None:
        """See `Objects.size`."""
        file = self._file(key)
        return file.stat().st_size if file.is_file() else None

    @contextmanager
    def open(self, key: str) -> Generator[BinaryIO]:
        """See `Objects.open`."""
        try:
            file = self._file(key).open("rb")
        except FileNotFoundError as error:
            raise NotFoundError("there is no such object") from error
        with file:
            yield file

    def write(self, key: str, content: BinaryIO) -> None:
        """See `Objects.write`."""
        with self._kept_aside(key, content) as written:
            written.replace(self._file(key))

    def create(self, key: str, content: bytes) -> bool:
        """See `Objects.create`."""
        with self._kept_aside(key, BytesIO(content)) as written:
            try:
                os.link(written, self._file(key))
            except FileExistsError:
                return False
        return True

    def check(self, method: str, key: str, expires: str, signature: str) -> None:
        """Check a link as it comes back.

        Raises:
            ForbiddenError: We did not make it, or its time is over.
        """
        given = signature.encode("utf-8", "surrogatepass")
        if not hmac.compare_digest(self._sign(method, key, expires).encode(), given):
            raise ForbiddenError("the link is not one of ours")
        if int(expires) < self._clock().timestamp():
            raise ForbiddenError("the link's time is over")

    def forget_old(self) -> None:
        """Delete what is older than `LIFETIME`."""
        before = (self._clock() - LIFETIME).timestamp()
        for file in self._folder.rglob("*"):
            if file.is_file() and file.stat().st_mtime < before:
                file.unlink()

    def _link(self, method: Method, key: str) -> str:
        expires = str(int(self._clock().timestamp()) + LINK_S)
        query = {"key": key, "expires": expires, "signature": self._sign(method, key, expires)}
        return f"{self._url}?{urlencode(query)}"

    def _sign(self, method: str, key: str, expires: str) -> str:
        signed = f"{method}\n{key}\n{expires}".encode("utf-8", "surrogatepass")
        return hmac.new(self._secret, signed, hashlib.sha256).hexdigest()

    def _file(self, key: str) -> Path:
        return self._folder / key

    @contextmanager
    def _kept_aside(self, key: str, content: BinaryIO) -> Generator[Path]:
        """A complete copy of `content` beside its place, so that it can get there in one step."""
        folder = self._file(key).parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder)
        written = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                shutil.copyfileobj(content, file)
            yield written
        finally:
            written.unlink(missing_ok=True)
