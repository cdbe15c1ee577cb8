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
]  # fmt: skip
