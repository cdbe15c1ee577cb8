"""Runs a list of escape attempts against an engine, with canaries planted, and judges what came back.

An attempt is `{name, code, must, set}`; `code` may be a list of consecutive calls by different users. Placeholders
`@@NAME@@` in it are replaced by where the canaries are. All network canaries listen on loopback only.
"""

import contextlib
import hashlib
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from satchel.sandbox.model import Limits, SandboxResult

LIMITS = Limits(time_s=6.0)
Run = Callable[[str], SandboxResult]


@dataclass
class Canaries:
    """What an attempt might reach, and how to tell that it did.

    Attributes:
        values: Strings that must not come back.
        placeholders: What replaces `@@NAME@@`.
        folder: A folder that must stay as it is.
        before: Its files before the attempt.
        victim: A process that must live.
        packets: UDP datagrams that arrived.
    """

    values: list[str]
    placeholders: dict[str, str]
    folder: Path
    before: dict[str, bytes]
    victim: subprocess.Popen[bytes]
    packets: list[bytes] = field(default_factory=list)

    def folder_content(self) -> dict[str, bytes]:
        """Every file below the folder."""
        return {str(path): path.read_bytes() for path in sorted(self.folder.rglob("*")) if path.is_file()}

    def written_elsewhere(self) -> list[str]:
        """Files that attempts try to leave elsewhere, and did."""
        nonce = self.placeholders["NONCE"]
        places = (f"/etc/pwned_{nonce}", f"/usr/lib/pwned_{nonce}", str(Path(f"~/.bashrc_{nonce}").expanduser()))
        return [place for place in places if Path(place).exists()]


@contextlib.contextmanager
def planted() -> Iterator[Canaries]:
    """Canaries in a file, the environment, TCP, UDP and Unix sockets, a host module and a process."""
    secret = f"canary-{secrets.token_hex(12)}"
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="canary-")))
        folder.chmod(0o755)
        file = folder / "secret.txt"
        file.write_text(secret)
        file.chmod(0o644)
        module = "hostmod_" + secrets.token_hex(4)
        (folder / f"{module}.py").write_text(f"SECRET = {secret!r}\n")
        sys.path.append(str(folder))
        stack.callback(sys.path.remove, str(folder))
        environment = "CANARY_" + secrets.token_hex(4).upper()
        os.environ[environment] = secret
        stack.callback(os.environ.pop, environment)
        victim = subprocess.Popen(["/bin/sleep", "600"])
        stack.callback(victim.wait)
        stack.callback(victim.kill)
        packets: list[bytes] = []
        tcp = _serve(stack, socket.AF_INET, ("127.0.0.1", 0), secret)
        unix_path, abstract = str(folder / "socket"), "canary-" + secrets.token_hex(6)
        _serve(stack, socket.AF_UNIX, unix_path, secret)
        _serve(stack, socket.AF_UNIX, "\0" + abstract, secret)
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        udp.settimeout(0.2)
        stop = threading.Event()
        listener = threading.Thread(target=_listen, args=(udp, packets, stop))
        listener.start()
        stack.callback(listener.join)
        stack.callback(stop.set)
        canaries = Canaries(
            values=[secret],
            placeholders={
                "CANARY_FILE": str(file),
                "CANARY_DIR": str(folder),
                "CANARY_ENV_NAME": environment,
                "TCP_PORT": str(tcp),
                "UDP_PORT": str(udp.getsockname()[1]),
                "METADATA_HOST": "127.0.0.1",
                "METADATA_PORT": str(tcp),
                "UNIX_SOCK": unix_path,
                "ABSTRACT_SOCK": abstract,
                "HOST_PID": str(os.getpid()),
                "VICTIM_PID": str(victim.pid),
                "HOST_MODULE": module,
                "PASSWD_SHA256": hashlib.sha256(Path("/etc/passwd").read_bytes()).hexdigest(),
                "NONCE": secrets.token_hex(6),
            },
            folder=folder,
            before={},
            victim=victim,
            packets=packets,
        )
        canaries.before = canaries.folder_content()
        yield canaries


def judge(attempt: Mapping[str, Any], run: Run, canaries: Canaries) -> list[str]:
    """Run one attempt; the parts of its `must` that do not hold, none where all is well."""
    code = attempt["code"]
    texts = [_filled(text, canaries) for text in (code if isinstance(code, list) else [code])]
    packets_before = len(canaries.packets)
    results = [run(text) for text in texts]
    return [
        part
        for part in attempt["must"].split("+")
        if not _holds(part, results, canaries, run, len(canaries.packets) - packets_before)
    ]


def _holds(part: str, results: Sequence[SandboxResult], canaries: Canaries, run: Run, packets: int) -> bool:
    last = results[-1]
    everything = "\n".join(_all_text(result) for result in results)
    if part.startswith("works:"):
        return part.removeprefix("works:") in last.stdout and last.status == "ok"
    in_time = last.duration_ms < (LIMITS.time_s + 3) * 1000
    nonce = canaries.placeholders["NONCE"]
    checks: dict[str, Callable[[], bool]] = {
        "contained": lambda: "ESCAPED" not in everything and not any(value in everything for value in canaries.values),
        "fresh_state": lambda: not any(word in _all_text(last) for word in ("ESCAPED", "state-of-tenant-A")),
        "host_untouched": lambda: canaries.folder_content() == canaries.before and not canaries.written_elsewhere(),
        "host_alive": lambda: canaries.victim.poll() is None and run("print(6*7)").stdout == "42\n",
        "no_packet": lambda: packets == 0,
        "time_limit": lambda: last.status == "time_limit" and in_time,
        "memory_limit": lambda: last.status == "memory_limit",
        "output_limit": lambda: (
            last.status == "output_limit" and max(len(last.stdout), len(last.stderr)) <= LIMITS.output_bytes
        ),
        "disk_limit": lambda: "ESCAPED" not in everything and in_time,
        "stopped_or_blocked": lambda: in_time,
        "no_leftover": lambda: not list(Path(tempfile.gettempdir()).glob(f"*{nonce}*")),
        "layers_true": lambda: last.layers == run("1").layers,
        "text_only": lambda: all(item.data.startswith(b"\x89PNG") for result in results for item in result.artefacts),
    }
    return checks[part]()


def _all_text(result: SandboxResult) -> str:
    pictures = [artefact.name + artefact.data.decode("latin-1") for artefact in result.artefacts]
    return "\n".join([result.stdout, result.stderr, json.dumps(result.value), *pictures])


def _filled(text: str, canaries: Canaries) -> str:
    for name, value in canaries.placeholders.items():
        text = text.replace(f"@@{name}@@", value)
    return text


def _serve(stack: contextlib.ExitStack, family: int, address: Any, secret: str) -> int:
    server = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
    server.bind(address)
    server.listen()
    server.settimeout(0.2)
    if isinstance(address, str) and not address.startswith("\0"):
        Path(address).chmod(0o777)
    stop = threading.Event()
    thread = threading.Thread(target=_answer, args=(server, secret.encode(), stop))
    thread.start()
    stack.callback(thread.join)
    stack.callback(stop.set)
    return server.getsockname()[1] if family == socket.AF_INET else 0


def _answer(server: socket.socket, secret: bytes, stop: threading.Event) -> None:
    while not stop.is_set():
        with contextlib.suppress(TimeoutError, OSError):
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + secret)


def _listen(udp: socket.socket, packets: list[bytes], stop: threading.Event) -> None:
    while not stop.is_set():
        with contextlib.suppress(TimeoutError):
            packets.append(udp.recv(1000))
