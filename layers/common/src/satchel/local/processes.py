"""Child processes that never outlive the stack, however it ends."""

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

# Marks a child in its environment with the data folder it serves, so that a later start finds what was left behind.
OWNER_VARIABLE = "LOCAL_STACK_OWNER"

# Runs in a bare interpreter, which then becomes the command: no code of ours runs between fork and exec of a process
# with threads. Changing the user clears the death signal, so that comes first. 1 is PR_SET_PDEATHSIG.
_TETHER = """
import ctypes, os, sys
parent, signal, uid, gid, *command = sys.argv[1:]
if uid:
    os.setgroups([])
    os.setgid(int(gid))
    os.setuid(int(uid))
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, int(signal))
if os.getppid() != int(parent):
    sys.exit("the parent ended first")
os.execvp(command[0], command)
"""


@dataclass(frozen=True)
class User:
    """A system user to run a child as."""

    name: str
    uid: int
    gid: int


def tethered(
    command: Sequence[str], *, ends_with: signal.Signals = signal.SIGKILL, user: User | None = None
) -> list[str]:
    """A command line that runs a command which the kernel signals when this process ends, even by `kill -9`.

    Linux only; elsewhere the command just runs, and `reap_leftovers` cleans up on the next start. Start it from a
    thread that lives as long as the stack: the kernel watches the thread that forked.

    Args:
        command: The program and its arguments.
        ends_with: The signal the command gets.
        user: Whom to run it as; this takes root.
    """
    ids = (str(user.uid), str(user.gid)) if user else ("", "")
    return [sys.executable, "-I", "-S", "-c", _TETHER, str(os.getpid()), str(int(ends_with)), *ids, *command]


def kill_group(pid: int) -> None:
    """Ends a child that leads its own process group, with everything it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def reap_leftovers(owner: Path) -> int:
    """Ends processes that an earlier stack on this data folder left behind; call it with the folder locked.

    Returns:
        How many were found.
    """
    found = 0
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.environ().get(OWNER_VARIABLE) == str(owner):
                process.kill()
                found += 1
    return found


def resident_bytes(pid: int) -> int:
    """Memory a process holds now; 0 once it is gone."""
    try:
        return psutil.Process(pid).memory_info().rss
    except psutil.Error:
        return 0
