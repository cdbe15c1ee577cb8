"""Reads AWS Secrets Manager."""

from typing import Any


def read_secret(arn: str) -> str:
    """The text of a secret, as it is now.

    Args:
        arn: The secret's ARN or name.
    """
    import boto3  # noqa: PLC0415 - only where there is such a secret, once per cold start

    client: Any = boto3.client("secretsmanager")  # pyright: ignore[reportUnknownMemberType]
    return client.get_secret_value(SecretId=arn)["SecretString"]
