"""Children that do not outlive the stack."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from satchel.local.processes import OWNER_VARIABLE, reap_leftovers, resident_bytes, tethered

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.02)


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_tethered_child_ends_with_a_parent_that_is_killed():
    program = textwrap.dedent("""
        import subprocess, sys, time
        from satchel.local.processes import tethered
        child = subprocess.Popen(tethered([sys.executable, "-c", "import time; time.sleep(60)"]))
        print(child.pid, flush=True)
        time.sleep(60)
    """)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        # It arms itself first and becomes the command then.
        wait_until(lambda: psutil.Process(child).cmdline()[1:] == ["-c", "import time; time.sleep(60)"])
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    wait_until(lambda: gone(child))


def test_a_tethered_command_is_the_command_itself():
    answer = subprocess.run(tethered(["sh", "-c", "echo $$; exit 7"]), capture_output=True, text=True, check=False)
    assert answer.returncode == 7
    assert answer.stdout.strip().isdigit()


def test_only_the_processes_of_the_folder_are_reaped(tmp_path: Path):
    mine = subprocess.Popen(SLEEP, env={**os.environ, OWNER_VARIABLE: str(tmp_path)})
    other = subprocess.Popen(SLEEP, env={**os.environ, OWNER_VARIABLE: str(tmp_path / "other")})
    try:
        wait_until(lambda: OWNER_VARIABLE in psutil.Process(mine.pid).environ())
        assert reap_leftovers(tmp_path) == 1
        assert mine.wait(10) == -signal.SIGKILL
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_memory_is_that_of_the_process_and_nothing_once_it_is_gone():
    assert resident_bytes(os.getpid()) > 1_000_000
    assert resident_bytes(2**22 + 1) == 0
