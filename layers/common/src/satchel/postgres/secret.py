"""The connection string kept in AWS Secrets Manager, in the form RDS keeps it."""

import json

from psycopg.conninfo import make_conninfo

from satchel.aws_secret import read_secret


def conninfo_of_secret(arn: str) -> str:
    """The connection string of a secret with host, port, dbname, username and password.

    Args:
        arn: The secret's ARN or name.
    """
    parts = json.loads(read_secret(arn))
    return make_conninfo(
        host=parts["host"],
        port=parts["port"],
        dbname=parts["dbname"],
        user=parts["username"],
        password=parts["password"],
        sslmode="require",
    )


def password_of_secret(arn: str) -> str:
    """The password alone."""
    return json.loads(read_secret(arn))["password"]
