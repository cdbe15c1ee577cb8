"""One execution environment: a process that runs one function under the real runtime client."""

import asyncio
import contextlib
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from satchel.local.invocation import Invocation, Outcome, error_object
from satchel.local.log_stream import LogStream
from satchel.local.processes import kill_group, resident_bytes, tethered
from satchel.local.template import Function

_MEGABYTE = 1024 * 1024
_MEMORY_CHECK_S = 0.05
_LAST_OUTPUT_S = 1.0
# One turn of the event loop to see the pipe, one to read it, one to cut it into lines.
_PASSES_TO_READ = 3
# Lambda gives the init phase 10 s and, if that is not enough, starts it again with the function's own time.
_INIT_LIMIT_S = 10.0


class InitError(Exception):
    """The worker never became ready; `payload` is the error object for the one who waits."""

    def __init__(self, payload: bytes) -> None:
        super().__init__(payload.decode(errors="replace"))
        self.payload = payload


@dataclass(frozen=True)
class Launch:
    """How a function's process is started: everything but its own port."""

    function: Function
    environment: Mapping[str, str]
    logs: LogStream


class Worker:
    """A process and the one invocation it may hold.

    Its port of the Runtime API belongs to it alone, so a crash is always tied to the invocation it happened in.
    """

    def __init__(self, launch: Launch, address: str) -> None:
        self.function = launch.function
        self.retiring = False
        self.used_at = time.monotonic()
        self._launch = launch
        self._address = address
        self._logs = launch.logs
        self._ready = asyncio.get_running_loop().create_future()
        self._inbox: asyncio.Queue[Invocation | None] = asyncio.Queue()
        self._current: Invocation | None = None
        self._answer: asyncio.Future[Outcome] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._watch: asyncio.Task[None] | None = None
        self._over_memory = False
        self._ending = False

    @property
    def pid(self) -> int:
        """The process's id."""
        assert self._process is not None
        return self._process.pid

    @property
    def usable(self) -> bool:
        """Whether it may get another invocation: neither out of date nor ended, by us or by itself."""
        ended = self._process is not None and self._process.returncode is not None
        return not (self.retiring or self._ending or ended)

    async def start(self, *, on_exit: Callable[["Worker"], None]) -> None:
        """Starts the process and waits until it asks for its first invocation.

        Args:
            on_exit: Called once, when the process has ended and its output is read to the end.

        Raises:
            InitError: The handler cannot be imported, or the process ended or hung before it was ready.
        """
        started = time.monotonic()
        spawning = asyncio.create_task(self._spawn())
        try:
            self._process = await asyncio.shield(spawning)
        except asyncio.CancelledError:
            # The process may be there though nobody has heard of it: it is not left behind.
            self._process = await spawning
            self.kill()
            await self._process.wait()
            on_exit(self)
            raise
        except OSError as error:  # there is no such folder
            on_exit(self)
            text = f"The function's code cannot be entered: {self.function.code} ({error.strerror})"
            raise InitError(error_object("Runtime.InvalidWorkingDir", text)) from error
        self._watch = asyncio.create_task(self._run(on_exit))
        try:
            async with asyncio.timeout(_INIT_LIMIT_S + self.function.timeout_s):
                await asyncio.shield(self._ready)
        except TimeoutError as error:
            self.kill()
            raise InitError(error_object("Sandbox.Timedout", "Init timed out")) from error
        self._logs.event("init", function=self.function.name, duration_ms=_ms(started), pid=self.pid)

    async def invoke(self, invocation: Invocation) -> Outcome:
        """Runs one invocation to its end, whatever that is."""
        started = time.monotonic()
        self._answer = asyncio.get_running_loop().create_future()
        self._current = invocation
        self._inbox.put_nowait(invocation)
        memory = asyncio.create_task(self._watch_memory())
        try:
            async with asyncio.timeout(self.function.timeout_s):
                outcome = await asyncio.shield(self._answer)
            await self._read_printed()
            outcome = replace(outcome, log_tail=bytes(invocation.log))
        except TimeoutError:
            outcome = invocation.timed_out(self.function.timeout_s)
            self.kill()
        finally:
            memory.cancel()
            if not self._answer.done():  # timed out, or the caller gave up: what runs is of no use to anybody
                self.kill()
            self._current = self._answer = None
            self.used_at = time.monotonic()
        self._logs.event(
            "report",
            function=self.function.name,
            request_id=invocation.request_id,
            duration_ms=_ms(started),
            error=outcome.error,
        )
        return outcome

    def kill(self) -> None:
        """Ends the process and all it started, at once."""
        self._ending = True
        if self._process is not None and self._process.returncode is None:
            kill_group(self.pid)

    async def ended(self) -> None:
        """Waits until the process is gone."""
        if self._watch is not None:
            await asyncio.shield(self._watch)

    # The Runtime API calls these.

    async def next_invocation(self) -> Invocation | None:
        """Waits for something to do; None when the process is being ended."""
        if not self._ready.done():
            self._ready.set_result(None)
        return await self._inbox.get()

    def deadline_ms(self) -> int:
        """When an invocation handed out now runs out of time, in epoch milliseconds."""
        return int((time.time() + self.function.timeout_s) * 1000)

    def answer(self, request_id: str, payload: bytes, *, error: bool) -> bool:
        """Takes what the process has to say about an invocation; False if it does not hold that one."""
        current, future = self._current, self._answer
        if current is None or future is None or current.request_id != request_id or future.done():
            return False
        future.set_result(current.failed(payload) if error else current.succeeded(payload))
        return True

    def init_failed(self, payload: bytes) -> None:
        """Takes the report that the handler could not be loaded."""
        if not self._ready.done():
            self._ready.set_exception(InitError(payload))

    async def _spawn(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *tethered([sys.executable, "-m", "awslambdaric", self.function.handler]),
            cwd=self.function.code,
            env={**self._launch.environment, "AWS_LAMBDA_RUNTIME_API": self._address},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for the stack; it ends its workers itself
        )

    async def _run(self, on_exit: Callable[["Worker"], None]) -> None:
        assert self._process is not None
        output = asyncio.create_task(self._copy_output())
        code = await self._process.wait()
        # A grandchild may hold the pipe open for ever.
        await asyncio.wait([output], timeout=_LAST_OUTPUT_S)
        output.cancel()
        if not self._ready.done():
            self._ready.set_exception(InitError(Invocation("init", b"").exited(code).payload))
        # Nobody may be waiting any more; then the exception has been seen all the same.
        _ = self._ready.exception()
        if self._current is not None and self._answer is not None and not self._answer.done():
            ended = self._current.out_of_memory() if self._over_memory else self._current.exited(code)
            self._answer.set_result(ended)
        self._inbox.put_nowait(None)
        on_exit(self)

    async def _read_printed(self) -> None:
        """Lets the loop read what was printed before the answer was sent: it already lies in the pipe."""
        for _ in range(_PASSES_TO_READ):
            await asyncio.sleep(0)

    async def _copy_output(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        rest = b""
        while chunk := await self._process.stdout.read(65_536):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._log(line)
        if rest:
            self._log(rest)

    def _log(self, line: bytes) -> None:
        text = line.decode(errors="replace").rstrip()
        if not text:
            return
        if self._current is not None:
            self._current.add_log(text)
        self._logs.line(self.function.name, self._current.request_id if self._current else "", text)

    async def _watch_memory(self) -> None:
        """Lambda counts resident memory, and kills; a limit on address space would break memory maps instead."""
        limit = self.function.memory_mb * _MEGABYTE
        with contextlib.suppress(asyncio.CancelledError):
            while True:
                await asyncio.sleep(_MEMORY_CHECK_S)
                if resident_bytes(self.pid) > limit:
                    self._over_memory = True
                    self.kill()
                    return


def _ms(started: float) -> float:
    return round((time.monotonic() - started) * 1000, 1)
