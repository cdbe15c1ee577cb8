"""Runs the official MCP conformance suite against the local stack, and fails below what it should pass.

usage: run.py [2026-07-28 2025-11-25]

The suite comes from npm at a pinned version into `.cache/conformance`, with a Node of its own, since it needs 22 or
newer. The stack serves with the fixtures of `tests/fixtures/conformance`, each function in two workers, so that
state hidden in a process shows up.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.conformance.token_front import passing_on  # noqa: E402 - a script has to find its package first

SUITE = "@modelcontextprotocol/conformance"
SUITE_VERSION = "0.2.0-alpha.12"
NODE_VERSION = "24"
CACHE = ROOT / ".cache" / "conformance"
# Scored scenarios that must pass, of those the suite requires for the revision.
TARGETS = {"2026-07-28": (37, 37), "2025-11-25": (26, 30)}
# They ask the client something in the middle of a call, which a stateless server cannot do.
NEEDS_A_BACK_CHANNEL = frozenset(
    {"tools-call-sampling", "tools-call-elicitation", "elicitation-sep1034-defaults", "elicitation-sep1330-enums"}
)
# Some scenarios pass over a fixture that is not there.
NEEDED_TOOLS = frozenset({"test_simple_text", "test_missing_capability", "test_input_required_result_tampered_state"})
_START_TIMEOUT_S = 180
_RUN_TIMEOUT_S = 900
_VERDICT = re.compile(r"^([✓✗]) ([\w\-]+): (\d+) passed, (\d+) failed", re.MULTILINE)


def install() -> Path:
    """Install the suite, unless this version is there; the folder with its packages."""
    packages = CACHE / f"{SUITE_VERSION}-node{NODE_VERSION}"
    if not (packages / "installed").exists():
        if shutil.which("npm") is None:
            sys.exit("make conformance needs npm, which comes with Node.js.")
        print(f"Installing {SUITE} {SUITE_VERSION} (once) ...", flush=True)
        packages.mkdir(parents=True, exist_ok=True)
        npm = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(packages)]
        subprocess.run([*npm, f"node@{NODE_VERSION}", f"{SUITE}@{SUITE_VERSION}"], check=True)
        (packages / "installed").touch()
    return packages / "node_modules"


@contextmanager
def stack() -> Iterator[tuple[str, str]]:
    """Serve with the fixtures on fresh data; the base URL and a token."""
    with tempfile.TemporaryDirectory(prefix="satchel-conformance-") as folder:
        command = [sys.executable, "-m", "satchel.cli.main", "serve", "--port", "0", "--with-test-fixtures"]
        with (Path(folder) / "log").open("w") as log:
            process = subprocess.Popen(
                [*command, "--data", f"{folder}/data"], cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True
            )
            try:
                yield _ready(process)
            finally:
                process.send_signal(signal.SIGINT)
                process.wait(60)


def _ready(process: subprocess.Popen[str]) -> tuple[str, str]:
    """The URL and token that the stack prints before `Ready`."""
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("The stack did not get ready in time."))
    signal.alarm(_START_TIMEOUT_S)
    said: dict[str, str] = {}
    for line in process.stdout or ():
        name, _, value = line.strip().partition(": ")
        said[name] = value
        if name == "Ready":
            signal.alarm(0)
            return said["MCP"].removesuffix("/mcp"), said["Token"]
    sys.exit("The stack did not start.")


def check_fixtures(url: str) -> None:
    """Refuse to measure a server that lacks the fixtures."""
    import httpx2  # noqa: PLC0415

    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answer = httpx2.post(url, json=message, headers={"accept": "application/json"}, timeout=60).json()
    missing = NEEDED_TOOLS - {tool["name"] for tool in answer["result"]["tools"]}
    if missing:
        sys.exit(f"The server does not offer the fixtures {', '.join(sorted(missing))}.")


def measure(packages: Path, url: str, revision: str) -> dict[str, object]:
    """Run what `revision` requires."""
    suite = packages / SUITE
    required = yaml.safe_load((suite / "requirements" / f"{revision}.yaml").read_text())["server"]
    node, program = packages / ".bin" / "node", suite / "dist" / "index.js"
    command = [node, program, "server", "--url", url, "--requirements", revision]
    with tempfile.TemporaryDirectory() as results:
        run = subprocess.run(
            [*command, "-o", results], capture_output=True, text=True, timeout=_RUN_TIMEOUT_S, check=False, cwd=results
        )
    passed = {name for verdict, name, *_ in _VERDICT.findall(run.stdout) if verdict == "✓"}
    failed = [name for name in required if name not in passed]
    tolerated = NEEDS_A_BACK_CHANNEL if revision == "2025-11-25" else frozenset()
    return {
        "revision": revision,
        "passed": len(required) - len(failed),
        "required": len(required),
        "failed": failed,
        "ok": (len(required) - len(failed), len(required)) >= TARGETS[revision] and not set(failed) - tolerated,
    }


def main(revisions: list[str]) -> int:
    """Measure each revision; 0 if all targets are met."""
    packages = install()
    with stack() as (base, token), passing_on(base, token) as front:
        check_fixtures(f"{front}/mcp")
        results = [measure(packages, f"{front}/mcp", revision) for revision in revisions]
    for result in results:
        print(f"{result['revision']}  {result['passed']}/{result['required']}  failed: {result['failed'] or 'none'}")
    print(json.dumps(results))
    return 0 if all(result["ok"] for result in results) else 1


if __name__ == "__main__":
    os.environ.setdefault("NO_COLOR", "1")
    sys.exit(main(sys.argv[1:] or list(TARGETS)))
