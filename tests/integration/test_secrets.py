import json

import boto3
import pytest
from moto import mock_aws
from psycopg.conninfo import conninfo_to_dict

from satchel import wiring
from satchel.mcp_wiring import _request_state_keys
from satchel.settings import Settings
from tests.conftest import forget_wiring


@pytest.fixture
def secrets(monkeypatch):
    """AWS Secrets Manager, as the template fills it."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "none")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_USE_DUALSTACK_ENDPOINT", "true")
    with mock_aws():
        client = boto3.client("secretsmanager")

        def keep(name: str, text: str) -> str:
            return client.create_secret(Name=name, SecretString=text)["ARN"]

        yield keep
    forget_wiring()


def of_rds(**fields: object) -> str:
    return json.dumps({"engine": "postgres", "host": "db.internal", "port": 5432, "dbname": "satchel", **fields})


def test_migrator_and_application_connect_as_two_roles_over_tls(secrets, monkeypatch):
    monkeypatch.delenv("SATCHEL_DATABASE_URL", raising=False)
    monkeypatch.setenv(
        "SATCHEL_DATABASE_ADMIN_SECRET", secrets("admin", of_rds(username="satchel_admin", password="owner's pass"))
    )
    monkeypatch.setenv("SATCHEL_DATABASE_SECRET", secrets("app", of_rds(username="satchel_app", password="p w")))
    forget_wiring()
    assert conninfo_to_dict(wiring.admin_conninfo()) == {
        "host": "db.internal",
        "port": "5432",
        "dbname": "satchel",
        "user": "satchel_admin",
        "password": "owner's pass",
        "sslmode": "require",
    }
    assert wiring.app_password() == "p w"


def test_keys_of_request_state_come_from_their_secret_newest_first(secrets):
    arn = secrets("state", "new-key,old-key")
    assert _request_state_keys(Settings(request_state_secret=arn)) == ("new-key", "old-key")
    assert _request_state_keys(Settings(request_state_secret=arn, request_state_keys=("given",))) == ("given",)
