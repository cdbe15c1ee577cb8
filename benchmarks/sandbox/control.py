"""The control: a plain Python subprocess, to show that the attempts do what they say where nothing stops them.

It is kept from harming the machine, not from escaping: it runs as an unprivileged user in process and mount
namespaces of its own, with the host's files read-only but for the canary folder, and the attempts that would take the
machine down are left out.
"""

import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.sandbox.attempts import LIMITS
from satchel.sandbox.model import SandboxResult

_LEFT_OUT = frozenset({"fork_bomb", "memory_bomb", "disk_fill", "huge_output", "kill_parent_and_victim"})
_NOBODY = "65534"


def is_safe(attempt: Mapping[str, Any]) -> bool:
    """Whether the control may run it."""
    return attempt["name"] not in _LEFT_OUT and not attempt["name"].startswith("infinite_loop")


def plain_subprocess(code: str, canary_folder: Path) -> SandboxResult:
    """Run `code` in a Python that inherits the environment and reads the host's files."""
    prefix = Path(sys.base_prefix).resolve()
    python = f"/opt/control-python/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    command = [
        "bwrap", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--new-session",
        "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/opt",
        "--ro-bind", str(prefix), "/opt/control-python", "--bind", str(canary_folder), str(canary_folder),
        "--setenv", "PYTHONPATH", str(canary_folder), "--setenv", "PYTHONHOME", "/opt/control-python",
        "--chdir", str(canary_folder), "--",
        "prlimit", "--nproc=64", "--as=2000000000", "--fsize=1000000", "--",
        "setpriv", "--reuid", _NOBODY, "--regid", _NOBODY, "--clear-groups", "--no-new-privs", "--",
        python, "-c", code,
    ]  # fmt: skip
    started = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, timeout=LIMITS.time_s, check=False)
        stdout, stderr, status = done.stdout, done.stderr, "ok" if done.returncode == 0 else "error"
    except subprocess.TimeoutExpired as late:
        stdout, stderr, status = late.stdout or b"", late.stderr or b"", "time_limit"
    return SandboxResult(
        status=status,
        stdout=stdout.decode(errors="replace"),
        stderr=stderr.decode(errors="replace"),
        value=None,
        artefacts=(),
        truncated=(),
        layers=(),
        duration_ms=round((time.monotonic() - started) * 1000),
    )
