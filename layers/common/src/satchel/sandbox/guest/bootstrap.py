"""Runs inside the sandbox, before and after the user's program.

It is text handed to whatever Python the engine has, so it imports nothing of ours. It is a courtesy to the
program, not a wall: a program that breaks it only spoils its own answer, and the host checks all it reads.
"""

# Only what the interpreter has loaded already: an import costs milliseconds of every run.
import ast
import binascii
import builtins
import io
import json
import linecache
import math
import os
import sys
import types

FILENAME = "<program>"
MAX_DEPTH = 40
MAX_ITEMS = 100_000


class OutputLimitError(BaseException):
    """The program printed more than is kept; not an Exception, so that a bare loop cannot swallow it."""


class Capped(io.TextIOBase):
    """A text stream that ends the program once it has passed its limit.

    Args:
        descriptor: Where to write.
        limit: The most bytes; one more is written, so that the host sees that it was passed.
    """

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, descriptor, limit):
        self._descriptor = descriptor
        self._room = limit + 1

    def writable(self):
        return True

    def fileno(self):
        return self._descriptor

    def write(self, text):
        data = text.encode("utf-8", "replace")
        piece = data[: self._room]
        while piece:
            written = os.write(self._descriptor, piece)
            self._room -= written
            piece = piece[written:]
        if self._room <= 0:
            raise OutputLimitError
        return len(text)


def to_json(value, depth=0):
    """JSON data for a Python value; what has no JSON form becomes its text.

    Numbers that are not finite become None. numpy, pandas and dates are told by what they offer, so that none
    of them has to be imported.
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) < 2**53 else str(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if depth >= MAX_DEPTH:
        return repr(value)[:200]
    if isinstance(value, dict):
        return {str(key): to_json(item, depth + 1) for key, item in list(value.items())[:MAX_ITEMS]}
    if isinstance(value, (list, tuple)):
        return [to_json(item, depth + 1) for item in value[:MAX_ITEMS]]
    kind = type(value).__name__
    if kind in ("DataFrame", "Series") and hasattr(value, "to_dict"):
        table = value if kind == "DataFrame" else value.to_frame(value.name or "value")
        table = table.head(MAX_ITEMS)
        return {
            "index": [to_json(item, depth + 1) for item in table.index.tolist()],
            "columns": [str(column) for column in table.columns],
            "data": [[to_json(cell, depth + 2) for cell in row] for row in table.to_numpy().tolist()],
        }
    for method in ("isoformat", "tolist"):
        if hasattr(value, method) and not isinstance(value, type):
            return to_json(getattr(value, method)(), depth + 1)
    if isinstance(value, (set, frozenset)):
        return sorted((to_json(item, depth + 1) for item in value), key=repr)
    return repr(value)[:2000]


def execute(code, names):
    """Run the program in `names`; the value of its last statement where that is an expression."""
    linecache.cache[FILENAME] = (len(code), None, code.splitlines(keepends=True), FILENAME)
    tree = ast.parse(code, FILENAME)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, FILENAME, "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), FILENAME, "eval"), names)


def save_open_figures():
    """Write each matplotlib figure that is still open as a picture."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    for number in pyplot.get_fignums() if pyplot else ():
        pyplot.figure(number).savefig(f"figure-{number}.png")


def pictures(limits):
    """The pictures in the working folder within the limits, and whether any was left out."""
    kept, room, left_out = [], limits["artefact_bytes"], False
    for path in sorted(name for name in os.listdir() if name.endswith(".png")):
        size = os.path.getsize(path)
        if len(kept) == limits["artefacts"] or size > room:
            left_out = True
            continue
        room -= size
        with open(path, "rb") as file:
            kept.append({"name": path, "base64": binascii.b2a_base64(file.read(), newline=False).decode()})
    return kept, left_out


def report_error(error):
    """Print the traceback without this file's frames."""
    import traceback

    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename != FILENAME:
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace)


def run(job):
    """Run the program of `job` and return what the host is told."""
    limits, answer = job["limits"], {"status": "ok", "value": None, "artefacts": [], "truncated": []}
    module = types.ModuleType("__main__")
    module.__dict__.update(inputs=job["inputs"], __builtins__=builtins, __file__=FILENAME)
    sys.modules["__main__"] = module
    try:
        value = json.dumps(to_json(execute(job["code"], module.__dict__)), allow_nan=False)
        if len(value) > limits["value_bytes"]:
            answer["truncated"].append("value")
        else:
            answer["value"] = json.loads(value)
        save_open_figures()
    except OutputLimitError:
        answer["status"] = "output_limit"
    except MemoryError as error:
        answer["status"] = "memory_limit"
        error.__traceback__ = None
        module.__dict__.clear()  # what filled the memory; the lines below need some of it
    except SystemExit as error:
        if error.code not in (None, 0):
            answer["status"] = "error"
            print(error.code, file=sys.stderr)
    except BaseException as error:
        answer["status"] = "error"
        report_error(error)
    answer["artefacts"], left_out = pictures(limits)
    if left_out:
        answer["truncated"].append("artefacts")
    return answer


def main(job_path, answer_path):
    """Read the job, run it, write the answer."""
    with open(job_path, encoding="utf-8") as file:
        job = json.load(file)
    with open(answer_path, "w", encoding="utf-8") as answer_file:
        limit = job["limits"]["output_bytes"]
        sys.stdout, sys.stderr = Capped(1, limit), Capped(2, limit)
        os.chdir("/work")
        sys.path.insert(0, "/kit")
        try:
            answer = run(job)
        except OutputLimitError:
            answer = {"status": "output_limit", "value": None, "artefacts": [], "truncated": []}
        json.dump(answer, answer_file)
    # All is said: taking the interpreter down in order takes as long as a third of pandas' import.
    os._exit(0)
