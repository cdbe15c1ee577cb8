"""The connection string kept in AWS Secrets Manager."""

import json
from typing import Any

from psycopg.conninfo import make_conninfo


def conninfo_of_secret(arn: str) -> str:
    """The connection string of a secret in the form RDS keeps (host, port, dbname, username, password).

    Args:
        arn: The secret's ARN or name.
    """
    import boto3  # noqa: PLC0415 - only where there is such a secret, once per cold start

    client: Any = boto3.client("secretsmanager")  # pyright: ignore[reportUnknownMemberType]
    parts: dict[str, Any] = json.loads(client.get_secret_value(SecretId=arn)["SecretString"])
    return make_conninfo(
        host=parts["host"],
        port=parts["port"],
        dbname=parts["dbname"],
        user=parts["username"],
        password=parts["password"],
        sslmode="require",
    )
