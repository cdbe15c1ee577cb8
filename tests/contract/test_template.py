"""The deployment against the code: template, settings, functions, events and catalogue say the same."""

import json
from pathlib import Path
from typing import Any

import pytest
from samcli.yamlhelper import yaml_parse

from satchel.api.listing import catalogue
from satchel.gateway.queue import MOST_ATTEMPTS
from satchel.local.template_reader import read
from satchel.objects.port import LIFETIME
from satchel.settings import Settings

TEMPLATE: dict[str, Any] = yaml_parse(Path("template.yaml").read_text(encoding="utf-8"))
GLOBALS: dict[str, Any] = TEMPLATE["Globals"]["Function"]
RESOURCES: dict[str, Any] = TEMPLATE["Resources"]
APPLICATION = read(
    Path("template.yaml"),
    stack_name="satchel",
    parameters={
        "Issuer": "https://issuer",
        "JwksUrl": "https://issuer/keys",
        "ResourceUrl": "https://me/mcp",
        # All that there can be is there.
        "LiveExchange": "binance",
        "LiveOwner": "alice",
        "LiveMaxOrder": "100 USDT",
    },
)
FUNCTIONS = {
    resource["Properties"]["FunctionName"]["Fn::Sub"].removeprefix("${AWS::StackName}-"): (logical_id, resource)
    for logical_id, resource in RESOURCES.items()
    if resource["Type"] in {"AWS::Serverless::Function", "AWS::Lambda::Function"}
}
# Invoked by other functions with requests of their own; the rest serve users, schedules and deployments.
SERVERLESS = {
    name: resource["Properties"]
    for name, (_, resource) in FUNCTIONS.items()
    if resource["Type"] == "AWS::Serverless::Function"
}
# What only a laptop or a test sets; in the cloud each has a counterpart in Secrets Manager, or no place at all.
NOT_DEPLOYED = {
    "database_url", "database_admin_url", "gateway_key", "request_state_keys", "test_fixtures", "sandbox",
    "sandbox_dir", "telegram_token", "telegram_webhook_secret", "objects_folder", "objects_key", "objects_url",
    "live_key_file",
}  # fmt: skip
# Routes that answer without a token: the adapter asks for its own, the others have nothing of anybody's.
OPEN_ROUTES = {
    ("ANY", "/mcp"),
    ("ANY", "/mcp/{proxy+}"),
    ("GET", "/.well-known/oauth-protected-resource"),
    ("GET", "/.well-known/oauth-protected-resource/mcp"),
    ("GET", "/healthz"),
    ("GET", "/openapi.json"),
    ("GET", "/docs"),
    ("GET", "/"),
    # Telegram has no token; it is known by the secret it sends.
    ("POST", "/v1/telegram"),
}


def logical_id_of(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_")) + "Function"


def routes_of(name: str) -> set[tuple[str, str]]:
    events = [event for event in SERVERLESS[name].get("Events", {}).values() if event["Type"] == "HttpApi"]
    return {(event["Properties"]["Method"], event["Properties"]["Path"]) for event in events}


def test_every_variable_of_the_template_is_a_setting_and_every_setting_is_deployed():
    variables = {
        variable.removeprefix("SATCHEL_").lower()
        for function in APPLICATION.functions.values()
        for variable in function.environment
        if variable.startswith("SATCHEL_")
    }
    settings = set(Settings.__dataclass_fields__)
    assert variables - settings == set()
    assert settings - variables == NOT_DEPLOYED & settings


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_one_name_everywhere(name):
    logical_id, resource = FUNCTIONS[name]
    properties = resource["Properties"]
    assert logical_id == logical_id_of(name)
    log_group = RESOURCES[properties["LoggingConfig"]["LogGroup"]["Ref"]]["Properties"]
    assert log_group["LogGroupName"] == {"Fn::Sub": f"/aws/lambda/${{AWS::StackName}}-{name}"}
    assert "RetentionInDays" in log_group
    json.loads(Path("events", f"{name}.json").read_text(encoding="utf-8"))
    code = APPLICATION.functions[logical_id]
    module, _, function = code.handler.partition(".")
    assert function == "handler"
    assert (code.code / f"{module}.py").is_file()
    assert name == (code.code.name if module == "app" else module)


def test_every_handler_and_every_event_belongs_to_a_function():
    handlers = {path.parent.name if path.stem == "app" else path.stem for path in Path("functions").glob("*/*.py")}
    assert handlers == FUNCTIONS.keys()
    assert {path.stem for path in Path("events").glob("*.json")} == FUNCTIONS.keys()


@pytest.mark.parametrize("name", SERVERLESS)
def test_a_function_of_the_store_waits_for_the_schema_and_holds_only_the_rights_it_needs(name):
    logical_id, resource = FUNCTIONS[name]
    properties = resource["Properties"]
    policies = json.dumps(properties.get("Policies", []))
    uses_store = "DatabasePolicy" in policies
    assert ("VpcConfig" in properties) == uses_store
    if name != "database_migrator":
        assert (resource.get("DependsOn") == "DatabaseSchema") == uses_store
        assert "DatabaseAdminSecret" not in json.dumps(properties)
    assert "*" not in policies
    has_encoder = {"Ref": "EmbeddingsLayer"} in properties.get("Layers", [])
    assert has_encoder == ("EncoderPolicy" in policies), f"{logical_id}: the encoder's layer and policy go together"


def test_the_adapter_may_invoke_exactly_what_the_catalogue_names():
    entries = (*catalogue().tools, *catalogue().resources, *catalogue().templates)
    statements = [policy["Statement"] for policy in SERVERLESS["mcp_adapter"]["Policies"]]
    invocable = next(s["Resource"] for s in statements if s["Action"] == "lambda:InvokeFunction")
    invocable = [arn["Fn::If"][1] if "Fn::If" in arn else arn for arn in invocable]
    assert {
        arn["Fn::GetAtt"][0] if isinstance(arn["Fn::GetAtt"], list) else arn["Fn::GetAtt"].split(".")[0]
        for arn in invocable
    } == {logical_id_of(entry.function) for entry in entries} | {"UpstreamToolFunction"}


def test_a_function_has_at_least_the_time_that_the_catalogue_promises():
    for entry in (*catalogue().tools, *catalogue().resources, *catalogue().templates):
        assert SERVERLESS[entry.function].get("Timeout", GLOBALS["Timeout"]) >= entry.timeout_s, entry.function


def test_every_tool_has_its_https_route_on_its_own_function():
    for tool in catalogue().tools:
        assert ("POST", f"/v1/tools/{tool.name}") in routes_of(tool.function)
    assert ("GET", "/v1/resources") in routes_of("mcp_adapter")


def test_only_the_routes_that_are_meant_to_be_open_are():
    found = {(route.method, route.path) for route in APPLICATION.routes if route.authorizer is None}
    assert found == OPEN_ROUTES


def test_browsers_may_send_and_read_what_the_protocols_need():
    cors = RESOURCES["HttpApi"]["Properties"]["CorsConfiguration"]
    sent = {"authorization", "content-type", "if-match", "last-event-id", "mcp-method", "mcp-name"}
    assert sent | {"mcp-protocol-version", "mcp-session-id"} <= set(cors["AllowHeaders"])
    assert {"www-authenticate", "retry-after", "etag", "mcp-session-id"} <= set(cors["ExposeHeaders"])
    assert cors["MaxAge"] > 0
    assert "*" not in TEMPLATE["Parameters"]["AllowedOrigins"]["Default"]
    assert "AllowCredentials" not in cors
    # What the transform makes of a list parameter is one text, and no origin.
    assert cors["AllowOrigins"] == {"Fn::Split": [",", {"Ref": "AllowedOrigins"}]}


def test_the_database_is_encrypted_private_and_leaves_a_snapshot():
    cluster, instance = RESOURCES["DatabaseCluster"], RESOURCES["DatabaseInstance"]
    assert cluster["Properties"]["StorageEncrypted"] is True
    assert instance["Properties"]["PubliclyAccessible"] is False
    assert (cluster["DeletionPolicy"], cluster["UpdateReplacePolicy"]) == ("Snapshot", "Snapshot")


def test_what_is_kept_aside_is_encrypted_private_only_over_tls_and_gone_after_a_day():
    bucket = RESOURCES["ObjectsBucket"]["Properties"]
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    (rule,) = bucket["LifecycleConfiguration"]["Rules"]
    assert (rule["Status"], rule["ExpirationInDays"]) == ("Enabled", LIFETIME.days)
    (statement,) = RESOURCES["ObjectsOverTls"]["Properties"]["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})


def test_the_queue_of_chats_hides_a_message_long_enough_and_gives_up_when_the_code_says_so():
    queue = RESOURCES["AgentQueue"]["Properties"]
    assert queue["VisibilityTimeout"] == 6 * SERVERLESS["agent_worker"]["Timeout"]
    assert queue["RedrivePolicy"]["maxReceiveCount"] == MOST_ATTEMPTS
    reader = RESOURCES["AgentQueueReader"]["Properties"]
    assert (reader["BatchSize"], reader["FunctionResponseTypes"]) == (1, ["ReportBatchItemFailures"])
