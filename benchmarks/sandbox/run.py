"""Escape attempts against the engines that are present: `run.py ATTEMPTS.json [--engine …] [--directory …]`.

Prints a table and, as its last line, one JSON object. Exit 1 where an engine let one through.
"""

import argparse
import json
import sys
from pathlib import Path

from benchmarks.sandbox.attempts import LIMITS, judge, planted
from benchmarks.sandbox.control import is_safe, plain_subprocess
from satchel.sandbox.bubblewrap import BubblewrapEngine
from satchel.sandbox.wasm import WasmEngine


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("attempts", type=Path)
    parser.add_argument("--engine", choices=["wasm", "bubblewrap", "control"], action="append")
    parser.add_argument("--directory", type=Path, default=Path("~/.cache/satchel/sandbox").expanduser())
    arguments = parser.parse_args()
    attempts = json.loads(arguments.attempts.read_text(encoding="utf-8"))
    engines = {"wasm": WasmEngine(arguments.directory), "bubblewrap": BubblewrapEngine()}
    summary = {}
    for name in arguments.engine or ["wasm", "bubblewrap", "control"]:
        failed: dict[str, list[str]] = {}
        ran = [attempt for attempt in attempts if name != "control" or is_safe(attempt)]
        for attempt in ran:
            with planted() as canaries:
                if name == "control":
                    canaries.folder.chmod(0o777)
                    (canaries.folder / "secret.txt").chmod(0o666)
                    missed = judge(
                        attempt, lambda code, folder=canaries.folder: plain_subprocess(code, folder), canaries
                    )
                else:
                    engine = engines[name]
                    missed = judge(attempt, lambda code, engine=engine: engine.run(code, {}, LIMITS), canaries)
            print(f"{name:<12}{attempt['name']:<34}{'ok' if not missed else 'MISSED ' + ', '.join(missed)}", flush=True)
            if missed:
                failed[attempt["name"]] = missed
        summary[name] = {"ran": len(ran), "passed": len(ran) - len(failed), "missed": sorted(failed)}
    for engine in engines.values():
        engine.close()
    print(json.dumps(summary))
    return 1 if any(summary[name]["missed"] for name in summary if name != "control") else 0


if __name__ == "__main__":
    sys.exit(main())
