"""From settings to the objects a handler needs, each built once per process and only when asked for."""

import json
import os
import uuid
from datetime import UTC, datetime
from functools import cache

from satchel.postgres.database import Database
from satchel.settings import Settings


@cache
def settings() -> Settings:
    """The settings of this process."""
    return Settings.from_environment(os.environ)


@cache
def database() -> Database:
    """The store of this process."""
    return Database(_conninfo)


def clock() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


def new_id() -> str:
    """A fresh message id."""
    return str(uuid.uuid4())


def _conninfo() -> str:
    if settings().database_url:
        return settings().database_url
    import boto3  # noqa: PLC0415 - only where the connection is kept in Secrets Manager, once per cold start

    secret = boto3.client("secretsmanager").get_secret_value(SecretId=settings().database_secret)
    parts = json.loads(secret["SecretString"])
    from psycopg.conninfo import make_conninfo  # noqa: PLC0415

    return make_conninfo(
        host=parts["host"],
        port=parts["port"],
        dbname=parts["dbname"],
        user=parts["username"],
        password=parts["password"],
        sslmode="require",
    )
