import errno
from dataclasses import dataclass

import pytest

from satchel.sandbox.memory_files import MemoryFiles


@dataclass(frozen=True)
class Stat:
    kind: str
    size: int


def make(**quota):
    return MemoryFiles(Stat, **({"file_bytes": 100, "files": 4} | quota))


def refused(number, call, *arguments):
    with pytest.raises(OSError) as caught:
        call(*arguments)
    return caught.value.errno == number


def test_files_and_folders_are_listed_in_name_order():
    files = make()
    files.mkdir("/b")
    files.write("/a", b"1")
    files.write("/b/c", b"22")
    assert files.list("/") == [("a", "file"), ("b", "dir")]
    assert files.list("/b") == [("c", "file")]
    assert files.stat("/b/c") == Stat("file", 2)


def test_the_quota_counts_what_is_kept_and_not_what_was_written():
    files = make()
    for _ in range(10):
        files.write("/a", b"x" * 60)
    files.remove("/a")
    files.write("/b", b"x" * 100)
    assert refused(errno.ENOSPC, files.write, "/c", b"x")


def test_there_are_only_so_many_places():
    files = make(files=2)
    files.mkdir("/a")
    files.write("/b", b"")
    assert refused(errno.ENOSPC, files.write, "/c", b"")
    assert refused(errno.ENOSPC, files.mkdir, "/c")
    files.write("/b", b"again")


def test_renaming_replaces_a_file_and_never_a_folder():
    files = make()
    files.write("/a", b"1")
    files.write("/b", b"2")
    files.mkdir("/d")
    files.rename("/a", "/b")
    assert files.content == {"/b": b"1"}
    assert refused(errno.EISDIR, files.rename, "/b", "/d")
    assert refused(errno.ENOTSUP, files.rename, "/d", "/e")


@pytest.mark.parametrize(
    ("number", "method", "arguments"),
    [
        (errno.ENOENT, "stat", ("/x",)),
        (errno.ENOENT, "read", ("/x",)),
        (errno.EISDIR, "read", ("/",)),
        (errno.ENOTDIR, "list", ("/a",)),
        (errno.ENOENT, "write", ("/x/y", b"")),
        (errno.ENOTDIR, "write", ("/a/y", b"")),
        (errno.EISDIR, "write", ("/", b"")),
        (errno.EEXIST, "mkdir", ("/a",)),
        (errno.EBUSY, "rmdir", ("/",)),
        (errno.ENOENT, "remove", ("/x",)),
    ],
)
def test_refusals_are_those_of_a_file_system(number, method, arguments):
    files = make()
    files.write("/a", b"")
    assert refused(number, getattr(files, method), *arguments)


def test_a_folder_is_removed_only_when_it_is_empty():
    files = make()
    files.mkdir("/d")
    files.write("/d/a", b"")
    assert refused(errno.ENOTEMPTY, files.rmdir, "/d")
    files.remove("/d/a")
    files.rmdir("/d")
    assert files.list("/") == []
