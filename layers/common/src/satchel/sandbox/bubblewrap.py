"""The opt-in engine for Linux: native Python in namespaces of its own (bubblewrap), under seccomp and rlimits.

Several times faster than WebAssembly, and a thinner wall: the program makes system calls to the same kernel. For a
machine whose user runs their own code; never for Lambda, which has no user namespaces.
"""

import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from satchel.errors import UnavailableError
from satchel.sandbox.answer import conclude
from satchel.sandbox.model import MIB, Limits, SandboxResult, Status

# Room for the interpreter, its threads' stacks and its libraries beside the program's own memory.
_OWN_BYTES = 512 * MIB
_ANSWER_ROOM = 1 * MIB
_LAYERS = ("bubblewrap-namespaces", "no-network", "empty-environment", "memory-files", "rlimits", "seccomp")
# What a guest may import beside the standard library, where the machine has it.
_PACKAGES = (
    "numpy", "numpy.libs", "pandas", "scipy", "scipy.libs", "matplotlib", "dateutil", "pytz", "tzdata", "six.py",
    "contourpy", "cycler", "kiwisolver", "pyparsing", "packaging", "PIL", "pillow.libs", "backtesting",
    "pandas_ta_classic",
)  # fmt: skip
_LAUNCH = """
import json, os, resource, sys
answer, memory, seconds = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
for kind, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0),
                   (resource.RLIMIT_NOFILE, 128), (resource.RLIMIT_FSIZE, int(sys.argv[4]))):
    resource.setrlimit(kind, (most, most))
source = {"__name__": "confine"}
exec(compile(open("/job/confine.py").read(), "confine.py", "exec"), source)
if source["restrict_calls"]() is None:
    sys.exit("no seccomp")
exec(compile(open("/job/bootstrap.py").read(), "bootstrap.py", "exec"))
main("/job/job.json", answer)
"""


class BubblewrapEngine:
    """Runs programs in bubblewrap, one process tree per run.

    Args:
        bwrap: The program, where it is not on the path.
    """

    name = "bubblewrap"

    def __init__(self, bwrap: Path | None = None) -> None:
        found = bwrap or shutil.which("bwrap")
        self._bwrap = str(found) if found else None

    def run(self, code: str, inputs: Mapping[str, Any], limits: Limits) -> SandboxResult:
        """See `SandboxEngine.run`."""
        if self._bwrap is None:
            raise UnavailableError("bubblewrap is not installed; nothing was run.", retry_after_s=60)
        with tempfile.TemporaryDirectory(prefix="satchel-sandbox-") as folder:
            job = Path(folder)
            text = json.dumps({"code": code, "inputs": inputs, "limits": asdict(limits)}, allow_nan=False)
            (job / "job.json").write_text(text, encoding="utf-8")
            for name in ("guest/bootstrap.py", "confine.py"):
                source = files("satchel.sandbox").joinpath(name).read_bytes()
                (job / Path(name).name).write_bytes(source)
            return self._run(job, limits)

    def close(self) -> None:
        """Nothing is kept."""

    def _run(self, job: Path, limits: Limits) -> SandboxResult:
        reader, writer = os.pipe()
        started = time.monotonic()
        try:
            process = subprocess.Popen(  # noqa: S603 - our own program and arguments
                self._command(job, limits, writer),
                env={},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(writer,),
                start_new_session=True,
            )
        finally:
            os.close(writer)
        with os.fdopen(reader, "rb") as answers:
            assert process.stdout is not None
            assert process.stderr is not None
            most = limits.value_bytes + 2 * limits.artefact_bytes + _ANSWER_ROOM
            descriptors = (process.stdout.fileno(), process.stderr.fileno(), answers.fileno())
            caps = dict(zip(descriptors, (limits.output_bytes + 1, limits.output_bytes + 1, most), strict=True))
            read, in_time = _drain(caps, started + limits.time_s)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            out, err, answer = (bytes(read[descriptor]) for descriptor in descriptors)
            process.stdout.close()
            process.stderr.close()
        if not answer and err.startswith(b"bwrap: "):
            raise UnavailableError("bubblewrap cannot make its namespaces here; nothing was run.", retry_after_s=60)
        ended: Status | None = None if in_time else "time_limit"
        return conclude(
            ended=ended,
            stdout=out,
            stderr=err,
            answer=answer,
            limits=limits,
            layers=_LAYERS,
            duration_ms=round((time.monotonic() - started) * 1000),
        )

    def _command(self, job: Path, limits: Limits, answer: int) -> list[str]:
        assert self._bwrap is not None
        size = str(limits.file_bytes)
        system = [part for name in ("/usr", "/lib", "/lib64", "/bin") for part in _bound(Path(name))]
        prefix = Path(sys.base_prefix).resolve()
        python = prefix / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
        if not prefix.is_relative_to("/usr"):
            system += ["--ro-bind", str(prefix), str(prefix)]
        return [
            self._bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL",
            "--uid", "65534", "--gid", "65534", "--hostname", "sandbox",
            *system, "--proc", "/proc", "--dev", "/dev", "--ro-bind", str(job), "/job",
            "--size", size, "--tmpfs", "/work", "--size", size, "--tmpfs", "/tmp",  # noqa: S108 - the guest's own
            "--dir", "/kit", *_kit(), "--remount-ro", "/dev", "--remount-ro", "/",
            "--setenv", "MPLBACKEND", "agg", "--setenv", "MPLCONFIGDIR", "/tmp", "--setenv", "HOME", "/tmp",  # noqa: S108
            "--setenv", "OPENBLAS_NUM_THREADS", "1", "--chdir", "/work", "--",
            str(python), "-I", "-S", "-B", "-c", _LAUNCH, str(answer), str(limits.memory_bytes + _OWN_BYTES),
            str(int(limits.time_s) + 1), size,
        ]  # fmt: skip


def _bound(path: Path) -> list[str]:
    if path.is_symlink():
        return ["--symlink", str(path.readlink()), str(path)]
    return ["--ro-bind", str(path), str(path)] if path.exists() else []


def _kit() -> list[str]:
    """The allowed packages from where this Python finds them, each at `/kit/NAME`."""
    numpy = find_spec("numpy")
    if numpy is None or numpy.origin is None:
        return []
    site = Path(numpy.origin).parents[1]
    return [
        part for name in _PACKAGES if (site / name).exists() for part in ("--ro-bind", str(site / name), f"/kit/{name}")
    ]


def _drain(caps: dict[int, int], until: float) -> tuple[dict[int, bytearray], bool]:
    """Read all descriptors to their ends or caps, but not past `until`; whether that was in time.

    A stream that reaches its cap ends the reading at once: the program is over its limit and will be killed.
    """
    read = {descriptor: bytearray() for descriptor in caps}
    with selectors.DefaultSelector() as selector:
        for descriptor in caps:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0.0, until - time.monotonic()))
            if not ready:
                return read, False
            for key, _ in ready:
                part = os.read(key.fd, 1 << 16)
                read[key.fd] += part[: caps[key.fd] - len(read[key.fd])]
                if not part:
                    selector.unregister(key.fd)
                elif len(read[key.fd]) >= caps[key.fd]:
                    return read, True
    return read, True
