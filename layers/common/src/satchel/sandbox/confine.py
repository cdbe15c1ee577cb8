"""Walls around the current process, put up by itself and never to be taken down: rlimits, Landlock, seccomp.

Sources: landlock(7), seccomp(2), the kernel's `Documentation/userspace-api/landlock.rst`. Where the kernel lacks
one, that one is left out, and what stands is returned, so that a result can say so. A process that is about to run
untrusted code calls this once, before it starts a thread: Landlock binds the calling thread and its children.
"""

import ctypes
import os
import platform
import resource
import struct
from collections.abc import Iterable
from pathlib import Path

_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_DUMPABLE = 4

_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_READ = 0b1100  # read a file, list a folder
_WRITE = 0b0111_1111_1111_0010 | _READ  # the rest but execute: write, make, remove, truncate, refer
_FILE_ONLY = 0b0100_0000_0000_0110  # what makes sense for a path that is a file
# ABI version -> the file system rights it knows, as a mask of the lowest bits.
_RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}

_SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_TSYNC = 1, 1
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_CLONE_THREAD = 0x00010000

_ARCHITECTURES = {
    # By machine: AUDIT_ARCH, the numbers of seccomp, clone and clone3, and what is refused.
    "x86_64": (
        0xC000003E,
        317,
        56,
        435,
        {
            "socket": 41, "socketpair": 53, "connect": 42, "accept": 43, "accept4": 288, "bind": 49, "listen": 50,
            "sendto": 44, "sendmsg": 46, "sendmmsg": 307, "execve": 59, "execveat": 322, "fork": 57, "vfork": 58,
            "kill": 62, "tkill": 200, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311,
            "pidfd_open": 434, "pidfd_getfd": 438, "pidfd_send_signal": 424, "mount": 165, "umount2": 166,
            "pivot_root": 155, "chroot": 161, "setns": 308, "unshare": 272, "bpf": 321, "perf_event_open": 298,
            "keyctl": 250, "add_key": 248, "request_key": 249, "io_uring_setup": 425, "io_uring_enter": 426,
            "io_uring_register": 427, "userfaultfd": 323, "open_by_handle_at": 304, "name_to_handle_at": 303,
            "init_module": 175, "finit_module": 313, "delete_module": 176, "kexec_load": 246, "reboot": 169,
            "setuid": 105, "setgid": 106, "setresuid": 117, "setresgid": 119, "memfd_secret": 447,
        },
    ),
    "aarch64": (
        0xC00000B7,
        277,
        220,
        435,
        {
            "socket": 198, "socketpair": 199, "connect": 203, "accept": 202, "accept4": 242, "bind": 200,
            "listen": 201, "sendto": 206, "sendmsg": 211, "sendmmsg": 269, "execve": 221, "execveat": 281,
            "kill": 129, "tkill": 130, "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271,
            "pidfd_open": 434, "pidfd_getfd": 438, "pidfd_send_signal": 424, "mount": 40, "umount2": 39,
            "pivot_root": 41, "chroot": 51, "setns": 268, "unshare": 97, "bpf": 280, "perf_event_open": 241,
            "keyctl": 219, "add_key": 217, "request_key": 218, "io_uring_setup": 425, "io_uring_enter": 426,
            "io_uring_register": 427, "userfaultfd": 282, "open_by_handle_at": 265, "name_to_handle_at": 264,
            "init_module": 105, "finit_module": 273, "delete_module": 106, "kexec_load": 104, "reboot": 142,
            "setuid": 146, "setgid": 144, "setresuid": 147, "setresgid": 149, "memfd_secret": 447,
        },
    ),
}  # fmt: skip


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def limit_resources(*, data_bytes: int, file_bytes: int) -> str:
    """Bound memory, file sizes, open files; no core dumps.

    Args:
        data_bytes: The most private writable memory (`RLIMIT_DATA`: reserved address space does not count, which
            a WebAssembly runtime takes by the gigabyte).
        file_bytes: The longest file it may write.
    """
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_DATA, data_bytes),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_NOFILE, 256),
    ):
        resource.setrlimit(kind, (most, most))
    return "rlimits"


def restrict_files(*, readable: Iterable[Path], writable: Iterable[Path]) -> str | None:
    """Leave the process only these paths of the file system, no network and no signals to others (Landlock).

    Paths that do not exist are left out.

    Returns:
        `landlock-N`, N being the kernel's version of it, or None where the kernel has none.
    """
    libc = _libc()
    abi = libc.syscall(_LANDLOCK_CREATE, None, 0, 1)
    if abi < 1:
        return None
    handled = (1 << _RIGHTS_BY_ABI.get(abi, 16)) - 1
    network = 0b11 if abi >= 4 else 0  # noqa: PLR2004 - TCP bind and connect came with version 4
    scoped = 0b11 if abi >= 6 else 0  # noqa: PLR2004 - abstract sockets and signals came with version 6
    attributes = struct.pack("QQQ", handled, network, scoped)[: 24 if scoped else 16 if network else 8]
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    rules = libc.syscall(_LANDLOCK_CREATE, attributes, len(attributes), 0)
    if rules < 0:
        return None
    for paths, rights in ((readable, _READ), (writable, _WRITE)):
        for path in paths:
            if not path.exists():
                continue
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
            allowed = rights & handled & (~0 if path.is_dir() else _FILE_ONLY)
            libc.syscall(_LANDLOCK_ADD, rules, 1, struct.pack("=Qi", allowed, descriptor), 0)
            os.close(descriptor)
    refused = libc.syscall(_LANDLOCK_RESTRICT, rules, 0)
    os.close(rules)
    return None if refused else f"landlock-{abi}"


def restrict_calls() -> str | None:
    """Refuse system calls that start programs, processes or networks, touch other processes or the system (seccomp).

    Threads may still be started. The filter covers threads that run already.

    Returns:
        `seccomp`, or None where the kernel or the machine is not one we have numbers for.
    """
    known = _ARCHITECTURES.get(platform.machine())
    if known is None:
        return None
    architecture, number_of_seccomp, clone, clone3, refused = known
    program = _filter(architecture, clone, clone3, sorted(refused.values()))
    buffer = ctypes.create_string_buffer(program, len(program))
    descriptor = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer)))
    libc = _libc()
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    failed = libc.syscall(number_of_seccomp, _SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_TSYNC, descriptor)
    return None if failed else "seccomp"


def _filter(architecture: int, clone: int, clone3: int, refused: list[int]) -> bytes:
    """A classic BPF program over `struct seccomp_data` (nr at 0, arch at 4, the first argument at 16)."""
    load, equal, greater, any_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06

    def step(code: int, yes: int, no: int, value: int) -> bytes:
        return struct.pack("HBBI", code, yes, no, value)

    return b"".join(
        [
            step(load, 0, 0, 4),
            step(equal, 1, 0, architecture),
            step(give, 0, 0, _KILL),
            step(load, 0, 0, 0),
            step(greater, 0, 1, 0x40000000),  # the x32 numbers are another way to the same calls
            step(give, 0, 0, _KILL),
            # glibc falls back to clone, whose flags a filter can read; clone3 keeps them in memory.
            step(equal, 0, 1, clone3),
            step(give, 0, 0, _ERRNO | _ENOSYS),
            step(equal, 0, 4, clone),
            step(load, 0, 0, 16),
            step(any_bit, 0, 1, _CLONE_THREAD),
            step(give, 0, 0, _ALLOW),
            step(give, 0, 0, _ERRNO | _EPERM),
            *(part for number in refused for part in (step(equal, 0, 1, number), step(give, 0, 0, _ERRNO | _EPERM))),
            step(give, 0, 0, _ALLOW),
        ]
    )
