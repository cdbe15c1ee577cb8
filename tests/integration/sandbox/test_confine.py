"""The walls a process puts up around itself, tried from inside it."""

import json
import subprocess
import sys

PROGRAM = """
import json, os, resource, socket, subprocess, sys, threading
from pathlib import Path
from satchel.sandbox import confine

allowed, secret = Path(sys.argv[1]), Path(sys.argv[2])
victim = subprocess.Popen(["/bin/sleep", "30"])
walls = [
    confine.limit_resources(data_bytes=200 * 2**20, file_bytes=1000),
    confine.restrict_files(readable=[Path(path) for path in sys.path if path], writable=[allowed]),
]
tried = {}

def attempt(name, act):
    try:
        act()
        tried[name] = "done"
    except BaseException as error:
        tried[name] = type(error).__name__

attempt("write_inside", lambda: (allowed / "a").write_text("x"))
attempt("write_too_much", lambda: (allowed / "b").write_bytes(bytes(2000)))
attempt("read_outside", lambda: secret.read_text())
attempt("list_outside", lambda: os.listdir(secret.parent))
attempt("write_outside", lambda: (secret.parent / "new").write_text("x"))
attempt("memory", lambda: bytearray(300 * 2**20))
attempt("signal_another", lambda: os.kill(victim.pid, 15))
walls.append(confine.restrict_calls())
attempt("fork", os.fork)
attempt("run", lambda: subprocess.run(["/bin/true"]))
attempt("socket", socket.socket)
attempt("signal", lambda: os.kill(os.getpid(), 0))
thread = threading.Thread(target=lambda: None)
attempt("thread", lambda: (thread.start(), thread.join()))
alive = victim.poll() is None
print(json.dumps({"walls": walls, "tried": tried, "alive": alive, "victim": victim.pid}))
sys.stdout.flush()
os._exit(0)
"""


def test_a_confined_process_keeps_its_own_folder_its_threads_and_nothing_else(tmp_path):
    allowed, secret = tmp_path / "allowed", tmp_path / "secret" / "key"
    allowed.mkdir()
    secret.parent.mkdir()
    secret.write_text("key")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, allowed, secret], capture_output=True, text=True, timeout=60, check=True
    )
    told = json.loads(done.stdout)
    subprocess.run(["/bin/kill", str(told["victim"])], check=False)
    assert told["walls"][0] == "rlimits"
    assert told["walls"][2] == "seccomp"
    tried = told["tried"]
    assert (tried["write_inside"], tried["thread"]) == ("done", "done")
    assert (tried["write_too_much"], tried["memory"]) == ("OSError", "MemoryError")
    refused = {name: tried[name] for name in ("fork", "run", "socket", "signal")}
    assert set(refused.values()) == {"PermissionError"}
    if told["walls"][1]:
        outside = {name: tried[name] for name in ("read_outside", "list_outside", "write_outside")}
        assert set(outside.values()) == {"PermissionError"}
        assert told["alive"]
    assert secret.read_text() == "key"
