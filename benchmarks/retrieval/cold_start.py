"""What a cold start of `save_message` and `search_conversation` costs, as built, under Lambda's own runtime client.

usage: cold_start.py BUILD_DIR PYTHON_3_13 [--runs 7] [--sizes 1000 10000]

`BUILD_DIR` is what `make build` made for this machine: `.aws-sam/build`, or `.aws-sam/check` after a build for the
other architecture. Each run is a fresh process on one core (Lambda's share at 1,769 MB), its files in the page cache.
`init`: until it asks for its first event; `first`: that call, which opens the encoder; `second`: the next one; `CPU`:
all of that without the second; `peak`: resident memory after the last of ten calls. What Lambda adds, fetching the
package and starting a virtual machine, cannot be measured here. The floor is a bare interpreter that imports the same
onnxruntime and tokenizers and opens the same model; `x floor` compares the CPU with it. The rows of
`search_conversation` name the messages of the user who asks. Medians; the last line is JSON.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import product
import psutil
from run import MODELS
from scale import FIRST_WORD, fill

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

from check_build import BuiltFunction, built_functions  # noqa: E402 - beside this folder

CALLS = 10
TIMEOUT_S = 60
CLIENT = ("awslambdaric", "snapshot-restore-py")
FLOOR = """
import os, signal, sys
import numpy, onnxruntime, tokenizers
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[1] + "/body.onnx", options, providers=["CPUExecutionProvider"])
tokenizer = tokenizers.Tokenizer.from_file(sys.argv[1] + "/tokenizer.json")
os.kill(os.getpid(), signal.SIGSTOP)  # giving back what was loaded would take a third as long again
"""
COLUMNS = ("init_ms", "first_ms", "second_ms", "cpu_ms", "peak_mb")
Event = Callable[[int], dict[str, Any]]
"""The event of a call, by its number."""


class RuntimeApi(HTTPServer):
    """The Runtime API for one process: https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html."""

    timeout = TIMEOUT_S

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Request)
        self.event: dict[str, Any] = {}
        self.answer: Any = None

    def handle_timeout(self) -> None:
        """Tell that the process is silent."""
        raise TimeoutError


class Request(BaseHTTPRequestHandler):
    """The process asks for an event, or answers one."""

    server: RuntimeApi

    def do_GET(self) -> None:
        """Hand out the event."""
        self.server.answer = None
        headers = {
            "Content-Type": "application/json",
            "Lambda-Runtime-Aws-Request-Id": "measured",
            "Lambda-Runtime-Deadline-Ms": str(int(1000 * (time.time() + TIMEOUT_S))),
            "Lambda-Runtime-Invoked-Function-Arn": "arn:aws:lambda:eu-central-1:0:function:measured",
            "Lambda-Runtime-Trace-Id": "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=0",
        }
        self.reply(json.dumps(self.server.event).encode(), headers)

    def do_POST(self) -> None:
        """Take an answer, or the word that the function cannot start."""
        self.server.answer = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.reply(b"{}", {})

    def reply(self, body: bytes, headers: dict[str, str]) -> None:
        """Send a response that leaves the connection to the next request."""
        self.send_response(200)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Write nothing."""


def environment(function: BuiltFunction, dsn: str, client: Path) -> dict[str, str]:
    """What the built function finds in Lambda, as far as these two read it."""
    (encoder,) = function.models.iterdir()
    return {
        "PYTHONPATH": os.pathsep.join(str(folder.absolute()) for folder in (*function.folders, client)),
        "OPENBLAS_NUM_THREADS": "1",
        "SATCHEL_ENCODER": encoder.name,
        "SATCHEL_MODEL_DIR": str(encoder.parent.resolve()),
        "SATCHEL_DATABASE_URL": dsn.replace("//postgres@", "//satchel_app@"),
    }


def started(command: list[str], variables: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a process on the last core."""
    process = subprocess.Popen(command, env=variables, stdout=subprocess.DEVNULL)
    os.sched_setaffinity(process.pid, {max(os.sched_getaffinity(0))})
    return process


def cold(python: str, handler: str, variables: dict[str, str], event: Event) -> dict[str, float]:
    """Start the function, call it, and end it."""
    calls: list[float] = []
    with RuntimeApi() as api:
        began = time.perf_counter()
        address = {"AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{api.server_address[1]}"}
        process = started([python, "-S", "-B", "-m", "awslambdaric", handler], variables | address)
        try:
            for number in range(CALLS):
                api.event = event(number)
                api.handle_request()
                asked = time.perf_counter()
                if number == 0:
                    init = asked - began
                api.handle_request()
                calls.append(time.perf_counter() - asked)
                if number == 0:
                    cpu = cpu_s(process.pid)
                if "structuredContent" not in (api.answer or {}):
                    raise RuntimeError(api.answer)
            peak = peak_mb(process.pid)
        finally:
            process.kill()
            process.wait()
    return dict(zip(COLUMNS, (1000 * init, 1000 * calls[0], 1000 * calls[1], 1000 * cpu, peak), strict=True))


def cpu_s(pid: int) -> float:
    return sum(psutil.Process(pid).cpu_times()[:2])


def peak_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def floor(python: str, variables: dict[str, str]) -> dict[str, float]:
    """Load the encoder's parts in a bare interpreter."""
    model = f"{variables['SATCHEL_MODEL_DIR']}/{variables['SATCHEL_ENCODER']}"
    began = time.perf_counter()
    process = started([python, "-S", "-B", "-c", FLOOR, model], variables)
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    took = time.perf_counter() - began
    if not os.WIFSTOPPED(status):
        raise RuntimeError(status)
    used = {"init_ms": 1000 * took, "cpu_ms": 1000 * cpu_s(process.pid), "peak_mb": peak_mb(process.pid)}
    process.kill()
    process.wait()
    return used


def runtime_client() -> Path:
    """Lambda's client for the functions' Python, in the version that the project pins."""
    folder = ROOT / ".cache" / "benchmarks" / "cold_start"
    if not folder.exists():
        pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
        wanted = [line.split()[0] for line in pinned if line.startswith(tuple(f"{name}==" for name in CLIENT))]
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:"]
        subprocess.run([*install, "--python-version", "3.13", "--target", folder, *wanted], check=True)
    return folder


def saving(run: int) -> Event:
    def event(number: int) -> dict[str, Any]:
        said = {"session_id": "cold", "role": "user", "content": f"I painted garden gate {number} green today."}
        return called("saver", "save_message", {**said, "message_id": f"{run}-{number}"})

    return event


def searching(user: str, _run: int) -> Event:
    def event(number: int) -> dict[str, Any]:
        return called(user, "search_conversation", {"query": f"what did I say about word{FIRST_WORD + number}?"})

    return event


def called(user: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    principal = {"user_id": user, "scopes": ["context:read", "context:write"]}
    return {"principal": principal, "tool": tool, "arguments": arguments, "request_id": "measured"}


def measure(functions: dict[str, BuiltFunction], python: str, runs: int, sizes: list[int]) -> dict[str, Any]:
    """Run the floor and each case in turn; the medians of each."""
    client = runtime_client()
    cases: dict[str, tuple[str, Callable[[int], Event]]] = {"save_message": ("save_message", saving)}
    cases |= {f"search_conversation, {n:,}": ("search_conversation", partial(searching, f"user{n}")) for n in sizes}
    measured: dict[str, list[dict[str, float]]] = {name: [] for name in ("floor", *cases)}
    with product.running_database() as (_database, dsn):
        variables = {name: environment(functions[name], dsn, client) for name, _ in cases.values()}
        encoder = variables["save_message"]["SATCHEL_ENCODER"]
        for size in sizes:
            fill(dsn, f"user{size}", size, product.ENCODERS[encoder](MODELS / encoder), whole=True)
        product.analyze(dsn)
        for run in range(runs):
            measured["floor"].append(floor(python, variables["save_message"]))
            for case, (name, events) in cases.items():
                measured[case].append(cold(python, functions[name].handler, variables[name], events(run)))
    return {
        case: {column: round(statistics.median(row[column] for row in rows), 1) for column in rows[0]}
        for case, rows in measured.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("python")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000])
    given = parser.parse_args()
    functions = {function.name: function for function in built_functions(given.build)}
    result = measure(functions, given.python, given.runs, given.sizes)
    print(f"{'':28s}" + "".join(f"{column:>11s}" for column in (*COLUMNS, "x floor")))
    for case, row in result.items():
        row["x floor"] = round(row["cpu_ms"] / result["floor"]["cpu_ms"], 2)
        print(f"{case:28s}" + "".join(f"{row.get(column, ''):>11}" for column in (*COLUMNS, "x floor")))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
