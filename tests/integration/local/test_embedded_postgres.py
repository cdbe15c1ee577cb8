"""The stack's own PostgreSQL, for real: killed, restarted, and never loosening anybody's folder."""

import asyncio
import io
import json
import os
import shutil
import signal
import stat
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from satchel.local.embedded_postgres import MAX_CONNECTIONS, EmbeddedPostgres
from satchel.local.log_stream import LogStream


@pytest.fixture
def folder() -> Iterator[Path]:
    """A data folder that PostgreSQL's own user can reach, as `serve` makes it."""
    path = Path(tempfile.mkdtemp(prefix="satchel-pg-"))
    path.chmod(0o711)
    yield path
    shutil.rmtree(path)


def with_server(
    folder: Path, use: Callable[[EmbeddedPostgres, io.StringIO], Awaitable[None]]
) -> list[dict[str, object]]:
    """Runs a server around some use of it and returns what it logged."""
    logs = io.StringIO()

    async def live() -> None:
        server = EmbeddedPostgres(folder, LogStream(logs, lambda: datetime.now(UTC)))
        await server.start()
        try:
            await use(server, logs)
        finally:
            await server.stop()

    asyncio.run(live())
    return [json.loads(line) for line in logs.getvalue().splitlines()]


async def query(dsn: str, sql: str) -> object:
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        row = await (await connection.execute(sql)).fetchone()  # pyright: ignore[reportArgumentType]
        assert row is not None
        return row[0]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(0.05)


def test_a_new_database_knows_vectors_utf_8_and_utc(folder):
    async def use(server: EmbeddedPostgres, logs: io.StringIO) -> None:
        await server.create_database("things")
        await server.create_database("things")
        dsn = server.dsn("things")
        assert await query(dsn, "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'") == 1
        assert await query(dsn, "SELECT lower('ÉTÉ 안녕')") == "été 안녕"
        assert await query(dsn, "SHOW timezone") == "UTC"
        assert int(str(await query(dsn, "SHOW max_connections"))) == MAX_CONNECTIONS

    assert with_server(folder, use) == []


def test_data_survives_a_stop_and_a_start(folder):
    async def write(server: EmbeddedPostgres, logs: io.StringIO) -> None:
        await query(server.dsn(), "WITH t AS (SELECT 1) SELECT set_config('a.b', 'c', false)")
        async with await psycopg.AsyncConnection.connect(server.dsn(), autocommit=True) as connection:
            await connection.execute("CREATE TABLE kept AS SELECT 42 AS value")

    async def read(server: EmbeddedPostgres, logs: io.StringIO) -> None:
        assert await query(server.dsn(), "SELECT value FROM kept") == 42

    with_server(folder, write)
    with_server(folder, read)


def test_a_killed_server_comes_back_by_itself_with_its_data(folder):
    async def use(server: EmbeddedPostgres, logs: io.StringIO) -> None:
        async with await psycopg.AsyncConnection.connect(server.dsn(), autocommit=True) as connection:
            await connection.execute("CREATE TABLE kept AS SELECT 42 AS value")
        first = server.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)

        await until(lambda: "database_recovered" in logs.getvalue())
        assert await query(server.dsn(), "SELECT value FROM kept") == 42

    logged = with_server(folder, use)
    assert [record["type"] for record in logged] == ["database_died", "database_recovered"]


def test_a_stale_pid_file_does_not_stop_the_start_whoever_has_that_pid_now(folder):
    async def nothing(server: EmbeddedPostgres, logs: io.StringIO) -> None:
        assert await server.answers()

    with_server(folder, nothing)
    (pid_file,) = [path / "postmaster.pid" for path in folder.rglob("cluster")]
    pid_file.write_text(f"{os.getpid()}\n{pid_file.parent}\n0\n5432\n\n\n  0 0\nready\n")
    with_server(folder, nothing)


def test_a_folder_that_is_closed_to_others_stays_closed(folder):
    closed = folder / "mine"
    closed.mkdir(mode=0o700)
    data = closed / "data"
    data.mkdir(mode=0o700)

    async def use(server: EmbeddedPostgres, logs: io.StringIO) -> None:
        assert await server.answers()

    with_server(data, use)
    with_server(data, use)
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    note = data / "postgres.place"
    if note.exists():  # as root: the cluster is where its own user can reach it
        place = Path(note.read_text().strip())
        assert (place / "cluster/PG_VERSION").exists()
        shutil.rmtree(place)
