"""Our own escape attempts, in the form of `benchmarks/sandbox/attempts.py`."""

ATTEMPTS = [
    {
        "name": "reads_the_host_through_every_way_to_open",
        "must": "contained+host_untouched",
        "code": """
import os, io, pathlib
for way in (lambda p: open(p).read(), lambda p: io.FileIO(p).read(), lambda p: pathlib.Path(p).read_text(),
            lambda p: os.read(os.open(p, os.O_RDONLY), 1000), lambda p: os.listdir(os.path.dirname(p))):
    try: print(way("@@CANARY_FILE@@"))
    except BaseException as e: print("blocked", type(e).__name__)
for fd in range(3, 200):
    try: print("fd", fd, os.read(fd, 2000) if not os.isatty(fd) else None)
    except BaseException: pass
""",
    },
    {
        "name": "asks_the_host_for_tools",
        "must": "contained",
        "code": """
try:
    from host import tools
    print(dir(tools), tools.read_file("@@CANARY_FILE@@"))
except BaseException as e: print("blocked", type(e).__name__)
""",
    },
    {
        "name": "resolves_names_and_connects_by_every_family",
        "must": "contained+no_packet",
        "code": """
import socket
for family in (socket.AF_INET, socket.AF_INET6, getattr(socket, "AF_UNIX", 1)):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, getattr(socket, "SOCK_RAW", 3)):
        try:
            s = socket.socket(family, kind); s.settimeout(1); s.connect(("127.0.0.1", @@TCP_PORT@@))
            print("ESCAPED", s.recv(100))
        except BaseException as e: print("blocked", type(e).__name__)
try: print(socket.getaddrinfo("localhost", @@TCP_PORT@@))
except BaseException as e: print("blocked", type(e).__name__)
""",
    },
    {
        "name": "sleeps_past_its_time",
        "must": "time_limit+host_alive",
        "code": "import time\nwhile True:\n    try: time.sleep(100)\n    except BaseException: pass",
    },
    {
        "name": "eats_memory_in_numpy",
        "must": "memory_limit+host_alive",
        "code": "import numpy as np\nkeep = [np.ones(4_000_000)]\nwhile True: keep.append(np.ones(4_000_000))",
    },
    {
        "name": "makes_countless_files",
        "must": "disk_limit+host_alive",
        "code": """
n = 0
for folder in ("/tmp", "/work", "/answer", "/job", "/kit", "/dev/shm"):
    try:
        for i in range(20_000):
            with open(f"{folder}/f{i}", "w") as file: file.write("x" * 2000)
            n += 1
        print("ESCAPED", folder)
    except OSError as e: print("stopped", folder, type(e).__name__, n)
""",
    },
    {
        "name": "recurses_without_end",
        "must": "stopped_or_blocked+host_alive",
        "code": "import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()\nf()",
    },
    {
        "name": "forges_its_answer",
        "must": "contained+text_only+host_alive",
        "code": """
import json, os
pictures = [{"name": "../x.png", "base64": "AAAA"}, 7, {"name": "y.png", "base64": "\\u0000"}]
text = json.dumps({"status": "ok", "artefacts": pictures, "truncated": 5, "value": 0})
for name in ("/answer/answer.json", "/proc/self/fd/3"):
    try: open(name, "w").write(text.replace("0}", "[" * 100000 + "]" * 100000 + "}"))
    except BaseException as e: print(type(e).__name__)
os._exit(0)
""",
    },
    {
        "name": "returns_what_is_no_picture",
        "must": "contained+text_only",
        "code": "open('page.png', 'w').write('<script>alert(1)</script>')\nopen('x.html', 'w').write('<b>')",
    },
    {
        "name": "looks_for_what_the_last_caller_left",
        "must": "fresh_state",
        "code": [
            """
import sys, os
sys.modules["left"] = os.environ["LEFT"] = "state-of-tenant-A"
for name in ("/tmp/left", "left.png"): open(name, "w").write("state-of-tenant-A")
""",
            "import sys, os\nprint(sys.modules.get('left'), os.environ, os.listdir('/tmp'), os.listdir('.'))",
        ],
    },
    {
        "name": "prints_on_both_streams_without_end",
        "must": "output_limit+host_alive",
        "code": """
import os
while True:
    for fd in (1, 2):
        try: os.write(fd, b"x" * 65536)
        except OSError: pass
""",
    },
    {
        "name": "climbs_out_by_links_and_descriptors",
        "must": "contained+host_untouched",
        "code": """
import os
for target in ("@@CANARY_FILE@@", "/proc/self/root@@CANARY_FILE@@", "../" * 20 + "@@CANARY_FILE@@"[1:]):
    for i, link in enumerate((os.symlink, os.link)):
        name = f"/tmp/l{i}{abs(hash(target)) % 1000}"
        try: link(target, name); print(open(name).read())
        except BaseException as e: print("blocked", type(e).__name__)
for place in ("/proc/self/fd", "/proc/1/fd", "/dev/fd", "/proc/@@HOST_PID@@/fd", "/proc/self/map_files"):
    try:
        for name in os.listdir(place):
            try: print(os.readlink(f"{place}/{name}"), open(f"{place}/{name}", "rb").read(500))
            except BaseException as e: print("blocked", type(e).__name__)
    except BaseException as e: print("blocked", type(e).__name__)
try: os.fchdir(os.open("/", os.O_RDONLY)); os.chroot("."); print(open("@@CANARY_FILE@@").read())
except BaseException as e: print("blocked", type(e).__name__)
""",
    },
    {
        "name": "calls_the_system_below_python",
        "must": "contained+host_untouched+host_alive",
        "code": """
for name in ("ctypes", "_ctypes", "cffi", "_posixsubprocess", "mmap", "fcntl", "resource", "_winapi", "nt"):
    try: module = __import__(name); print(name, "is there")
    except BaseException as e: print("blocked", name, type(e).__name__)
try:
    import ctypes
    libc = ctypes.CDLL(None)
    libc.ptrace(16, @@VICTIM_PID@@, 0, 0)
    libc.kill(@@VICTIM_PID@@, 9)
    libc.syscall(101, 16, @@HOST_PID@@, 0, 0)
    print("handles", libc.open(b"@@CANARY_FILE@@", 0) >= 0 and "ESCAPED")
except BaseException as e: print("blocked", type(e).__name__)
""",
    },
    {
        "name": "turns_enormous_integers_into_text",
        "must": "stopped_or_blocked+host_alive",
        "code": "import sys\nsys.set_int_max_str_digits(0)\nstr(7 ** (10 ** 8))\nwhile True: str(9 ** 9999999)",
    },
    {
        "name": "answers_with_an_enormous_integer",
        "must": "contained+host_alive",
        "code": "import sys\nsys.set_int_max_str_digits(0)\n[10 ** 4999, 1e400, float('nan'), -(2 ** 63)]",
    },
    {
        "name": "unpacks_bombs",
        "must": "stopped_or_blocked+host_alive",
        "code": """
import gzip, io, zipfile, zlib
packed = zlib.compress(b"0" * 10_000_000, 9)
for _ in range(3): packed = zlib.compress(packed, 9)
big = io.BytesIO()
with zipfile.ZipFile(big, "w", zipfile.ZIP_DEFLATED) as file:
    for i in range(60): file.writestr(f"{i}.bin", b"0" * 20_000_000)
kept = []
with zipfile.ZipFile(big) as file:
    for name in file.namelist(): kept.append(file.read(name)); file.extract(name, "/tmp")
print("ESCAPED")
""",
    },
    {
        "name": "gives_pictures_names_that_mislead",
        "must": "contained+text_only+host_untouched",
        "code": """
png = b"\\x89PNG\\r\\n\\x1a\\n"
for name in ("\\u202egnp.exe.png", "\\ud800.png", "a\\nb.png", "..png", "-rf.png", "x" * 99 + ".png",
             "@@CANARY_DIR@@/x.png", "..\\\\..\\\\x.png"):
    try:
        with open(name, "wb") as file: file.write(png)
    except BaseException as e: print("blocked", type(e).__name__)
""",
    },
    {
        "name": "speaks_after_its_end",
        "must": "contained+host_untouched+host_alive",
        "code": """
import atexit, sys, weakref, os
def late(*_):
    try: print("late", open("@@CANARY_FILE@@").read())
    except BaseException as e: print("blocked", type(e).__name__)
    while True: pass
atexit.register(late)
class Last:
    def __del__(self): late()
sys.modules["last"] = Last()
os._exit = lambda _code: None
sys.unraisablehook = late
""",
    },
    {
        "name": "watches_the_frames_that_run_it",
        "must": "contained+layers_true+host_alive",
        "code": """
import sys, gc
seen = []
def watch(frame, event, argument):
    seen.append(frame)
    for name, value in list(frame.f_locals.items()):
        if isinstance(value, dict) and ("limits" in value or "status" in value):
            value["layers"], value["duration_ms"], value["status"] = ["forged"], -1, "ok"
    return watch
sys.settrace(watch); sys.setprofile(watch)
frame = sys._getframe()
while frame: watch(frame, "", None); frame = frame.f_back
""",
    },
    {
        "name": "changes_what_writes_its_answer",
        "must": "contained+layers_true+text_only+host_alive",
        "code": """
import builtins, gc, io, json, os, sys
forged = json.dumps({"status": "ok", "layers": ["forged"], "duration_ms": 0, "value": "fine", "trapped": None,
                     "stdout": "", "artefacts": [{"name": "x.png", "base64": "PHNjcmlwdD4="}]})
json.dump = lambda _answer, file: file.write(forged)
json.dumps = lambda *_a, **_k: forged
for thing in gc.get_objects():
    if isinstance(thing, io.TextIOWrapper) and "answer" in str(thing.name):
        try: thing.write(forged); thing.flush(); print("forged", thing.name)
        except BaseException as e: print("blocked", type(e).__name__)
for fd in range(3, 30):
    try: os.write(fd, forged.encode() * 2)
    except BaseException: pass
1
""",
    },
    {
        "name": "hangs_in_c_with_signals_ignored",
        "must": "time_limit+host_alive",
        "code": """
import re, signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except BaseException: pass
re.match(r"(a|a|b?)+$", "a" * 60 + "c")
""",
    },
    {
        "name": "leaves_threads_behind",
        "must": "stopped_or_blocked+host_alive+no_leftover",
        "code": """
import threading
def work():
    while True: pass
for _ in range(1000):
    try: threading.Thread(target=work, daemon=False).start()
    except BaseException as e: print("blocked", type(e).__name__); break
open("/tmp/@@NONCE@@", "w").write("x")
""",
    },
    {
        "name": "answers_with_what_never_ends",
        "must": "time_limit+host_alive",
        "code": """
class Endless(dict):
    def items(self):
        while True: yield "key", self
    def __len__(self): return 1
class Deep:
    def tolist(self): return [self, self]
{"a": Deep(), "b": Endless()}
""",
    },
    {
        "name": "poisons_the_library_for_the_next",
        "must": "fresh_state",
        "code": [
            """
import json, os, sys
poison = "print('state-of-tenant-A')"
for place in (*sys.path, "/kit", "/kit/pandas", os.path.dirname(json.__file__), "/usr/share/zoneinfo"):
    for name in ("sitecustomize.py", "usercustomize.py", "numpy.py", "json.py", "__init__.py", "UTC"):
        try: open(f"{place}/{name}", "w").write(poison)
        except BaseException: pass
json.loads.__code__ = (lambda *a, **k: "state-of-tenant-A").__code__
""",
            "import json, numpy\nprint(json.loads('1'), int(numpy.ones(3).sum()))",
        ],
    },
]  # fmt: skip
