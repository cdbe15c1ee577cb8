"""A PostgreSQL server of the stack's own, which is started again whenever it dies and never outlives the stack."""

import asyncio
import contextlib
import os
import shutil
import signal
from pathlib import Path

import psutil

from satchel.local import postgres_place
from satchel.local.log_stream import LogStream
from satchel.local.processes import tethered

MAX_CONNECTIONS = 100
_START_LIMIT_S = 60.0
_STOP_LIMIT_S = 10.0
_POLL_S = 0.05
_RESTART_DELAY_S = 0.2
# The built-in locale makes sorting and case the same on every machine, without asking its C library.
_INITDB = (
    "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale-provider=builtin", "--locale=C",
    "--builtin-locale=C.UTF-8",
)  # fmt: skip


class PostgresError(Exception):
    """The server cannot be used; the message says why, or names its log."""


class EmbeddedPostgres:
    """The server of one data folder. Connections come through a socket that only its owner can reach.

    Args:
        data: The data folder, absolute, locked by the caller.
        logs: Gets a line when the server dies and comes back.
    """

    def __init__(self, data: Path, logs: LogStream) -> None:
        self._logs = logs
        self._place = postgres_place.choose(data)
        self._programs = postgres_place.programs(self._place)
        self._process: asyncio.subprocess.Process | None = None
        self._watch: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """The server's process; None while there is none."""
        return self._process.pid if self._process and self._process.returncode is None else None

    def dsn(self, database: str = "postgres", *, user: str = "postgres") -> str:
        """The connection string for a database."""
        return f"postgresql://{user}@/{database}?host={self._place.socket_folder}"

    async def start(self) -> None:
        """Starts the server, on a new cluster if there is none yet, and waits until it answers.

        Raises:
            PostgresError: It does not.
        """
        await self._end_leftover()
        if not self._place.cluster.exists():
            await self._create_cluster()
        postgres_place.make_socket_folder(self._place)
        await self._start_process()
        await self._wait_until_ready()
        self._watch = asyncio.create_task(self._keep_running())

    async def stop(self) -> None:
        """Stops the server after the running statements are cancelled; nothing committed is lost."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait([self._watch])
        if self._process is not None:
            await self._end(self._process)
        shutil.rmtree(self._place.socket_folder, ignore_errors=True)

    async def create_database(self, name: str) -> None:
        """Creates a database unless it exists."""
        import psycopg  # noqa: PLC0415 - a heavy client
        from psycopg import sql  # noqa: PLC0415 - a heavy client

        async with await psycopg.AsyncConnection.connect(self.dsn(), autocommit=True) as connection:
            found = await connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,))
            if await found.fetchone() is None:
                await connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))

    async def answers(self) -> bool:
        """Whether the server answers a query now."""
        import psycopg  # noqa: PLC0415 - a heavy client

        try:
            async with await psycopg.AsyncConnection.connect(self.dsn(), connect_timeout=2) as connection:
                await connection.execute("SELECT 1")
        except psycopg.Error:
            return False
        return True

    async def _create_cluster(self) -> None:
        """Into a folder with another name first: a start that is interrupted leaves no half cluster."""
        part = self._place.folder / "cluster.part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(mode=0o700)
        if self._place.user is not None:
            os.chown(part, self._place.user.uid, self._place.user.gid)
        command = [str(self._programs / "initdb"), *_INITDB, "-D", str(part)]
        with self._place.log.open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *tethered(command, user=self._place.user),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
            )
            code = await process.wait()
        if code != 0:
            raise PostgresError(f"The database cannot be created; see {self._place.log}.")
        part.rename(self._place.cluster)

    async def _start_process(self) -> None:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self._place.socket_folder),
            "unix_socket_permissions": "0700",
            "max_connections": str(MAX_CONNECTIONS),
            "timezone": "UTC",
            "log_timezone": "UTC",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        command = [str(self._programs / "postgres"), "-D", str(self._place.cluster), *options]
        with self._place.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                # SIGINT is PostgreSQL's fast shutdown: what a killed stack leaves behind closes in good order.
                *tethered(command, ends_with=signal.SIGINT, user=self._place.user),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
            )

    async def _wait_until_ready(self) -> None:
        try:
            async with asyncio.timeout(_START_LIMIT_S):
                while not await self.answers():
                    if self.pid is None:  # after kill -9, its children hold the memory for a moment
                        await asyncio.sleep(_RESTART_DELAY_S)
                        await self._start_process()
                    await asyncio.sleep(_POLL_S)
        except TimeoutError as error:
            raise PostgresError(f"The database does not start; see {self._place.log}.") from error

    async def _keep_running(self) -> None:
        while self._process is not None:
            code = await self._process.wait()
            self._logs.event("database_died", exit_code=code)
            with contextlib.suppress(PostgresError):
                await self._wait_until_ready()
                self._logs.event("database_recovered", pid=self.pid)

    async def _end_leftover(self) -> None:
        """Waits for the server of a killed stack, which is closing; a stale pid file goes, whoever has that pid now."""
        pid_file = self._place.cluster / "postmaster.pid"
        if not pid_file.exists():
            return
        pid = int(pid_file.read_text("utf-8").split("\n", 1)[0])
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            if str(self._place.cluster) in process.cmdline():
                process.send_signal(signal.SIGINT)
                await self._gone(process)
        pid_file.unlink(missing_ok=True)

    async def _gone(self, process: psutil.Process) -> None:
        for step in range(int(_STOP_LIMIT_S / _POLL_S)):
            if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
                return
            if step == int(_STOP_LIMIT_S / _POLL_S / 2):
                process.send_signal(signal.SIGQUIT)
            await asyncio.sleep(_POLL_S)
        process.kill()

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        try:
            async with asyncio.timeout(_STOP_LIMIT_S):
                await process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGQUIT)
            await process.wait()
