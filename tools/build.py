"""Builds the deployment with `sam build`, makes its imports fast, checks its size, and runs what was built.

    python tools/build.py arm64|x86_64

The result is `.aws-sam/build`, for `sam deploy`. What runs here must be of this machine's architecture: on another
one the layers are built a second time, under `.aws-sam/check`, from the same pinned versions.
"""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib.util import source_from_cache
from pathlib import Path

from samcli.yamlhelper import yaml_parse

BUILD = Path(".aws-sam/build")
CHECK = Path(".aws-sam/check")
# Lambda's limit is 250 MB (262,144,000 bytes) for a function with its layers, unzipped; the rest is for growth.
LIMIT_BYTES = 235 * 1024 * 1024
# Ships as bytecode without source: 8 MB of generated types, all imported at once. Tracebacks keep its line numbers.
WITHOUT_SOURCE = "anthropic"
THIS_MACHINE = {"aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), "x86_64")


def main(architecture: str) -> int:
    """Build for `architecture` and check; 1 when something is over its limit or does not answer."""
    python = os.environ["PYTHON_3_13"]
    _build(python, architecture, BUILD)
    for layer, size in sorted(layer_sizes(BUILD).items()):
        print(f"{layer:32} {size / 1024 / 1024:6.1f} MB")
    sizes = function_sizes(BUILD)
    for name, size in sorted(sizes.items()):
        print(f"{name:32} {size / 1024 / 1024:6.1f} MB with its layers")
    if too_large := [name for name, size in sizes.items() if size > LIMIT_BYTES]:
        print(f"over {LIMIT_BYTES // 1024 // 1024} MB: {', '.join(sorted(too_large))}")
        return 1
    runnable = BUILD
    if architecture != THIS_MACHINE:
        runnable = CHECK
        _build(python, THIS_MACHINE, CHECK)
    return subprocess.run(
        [sys.executable, "-W", "ignore", "tools/check_build.py", str(runnable), python], check=False
    ).returncode


def _build(python: str, architecture: str, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    # A variable given to make on its command line would overrule ours in the layers' makefiles.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    environment = inherited | {
        # sam looks for the functions' runtime on PATH.
        "PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}",
        "ARCHITECTURE": architecture,
    }
    sam = Path(sys.executable).with_name("sam")
    command = [sam, "build", "--build-dir", target, "--parameter-overrides", f"Architecture={architecture}"]
    print(f"sam build for {architecture} ...", flush=True)
    ended = subprocess.run(command, check=False, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if ended.returncode != 0:
        sys.exit(ended.stdout.decode())
    for artefact, home in artefacts(target):
        compile_bytecode(python, artefact, home)
        drop_source(artefact / "python" / WITHOUT_SOURCE)


def artefacts(build: Path) -> Iterable[tuple[Path, str]]:
    """Each built folder and where its content is in Lambda: `/var/task` for functions, `/opt` for layers."""
    for name, resource in _resources(build).items():
        properties = resource["Properties"]
        if resource["Type"] == "AWS::Serverless::Function":
            yield build / properties["CodeUri"], "/var/task"
        elif resource["Type"] == "AWS::Serverless::LayerVersion":
            yield build / name, "/opt"


def compile_bytecode(python: str, artefact: Path, home: str) -> None:
    """Compile in place, as of the paths it will have in Lambda.

    The bytecode is never checked against its source (time stamps do not survive packing, and Lambda cannot write
    new files), which takes imports to about a third. The same source gives the same bytes, wherever it was built.
    """
    mode = ["--invalidation-mode", "unchecked-hash"]
    paths = ["-s", str(artefact), "-p", home]
    subprocess.run([python, "-m", "compileall", "-q", *mode, *paths, str(artefact)], check=True)


def drop_source(package: Path) -> None:
    """Leave of a compiled package its bytecode, where Python looks for a module that has no source."""
    for bytecode in list(package.rglob("*.pyc")):
        source = Path(source_from_cache(bytecode))
        bytecode.replace(source.with_suffix(".pyc"))
        source.unlink()


def function_sizes(build: Path) -> dict[str, int]:
    """Bytes of each function with its layers, unzipped, by logical id."""
    resources = _resources(build)
    shared = yaml_parse((build / "template.yaml").read_text(encoding="utf-8"))["Globals"]["Function"]["Layers"]
    sizes: dict[str, int] = {}
    for name, resource in resources.items():
        if resource["Type"] == "AWS::Serverless::Function":
            layers = [layer["Ref"] for layer in [*shared, *resource["Properties"].get("Layers", [])]]
            folders = [build / resource["Properties"]["CodeUri"], *(build / layer for layer in layers)]
            sizes[name] = sum(_bytes(folder) for folder in folders)
    return sizes


def layer_sizes(build: Path) -> dict[str, int]:
    """Bytes of each layer, unzipped, by logical id."""
    layers = [name for name, each in _resources(build).items() if each["Type"] == "AWS::Serverless::LayerVersion"]
    return {name: _bytes(build / name) for name in layers}


def _resources(build: Path) -> dict[str, dict]:
    return yaml_parse((build / "template.yaml").read_text(encoding="utf-8"))["Resources"]


def _bytes(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
