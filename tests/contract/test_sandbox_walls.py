"""What docs/sandbox.md promises of the function that runs untrusted programs, held against the template."""

import json
from pathlib import Path
from typing import Any

import pytest
from samcli.yamlhelper import yaml_parse

RESOURCES: dict[str, Any] = yaml_parse(Path("template.yaml").read_text(encoding="utf-8"))["Resources"]
SANDBOXES = ("SandboxFunction", "SandboxLongFunction")


def named_by(logical_id: str) -> set[str]:
    """The other resources that say a resource's name, in whatever function of the template."""
    return {
        name
        for name, resource in RESOURCES.items()
        if name != logical_id and f'"{logical_id}' in json.dumps(resource).replace("${", '"')
    }


def statements(role: dict[str, Any]) -> list[dict[str, Any]]:
    return [told for policy in role["Policies"] for told in policy["PolicyDocument"]["Statement"]]


@pytest.mark.parametrize("name", SANDBOXES)
def test_a_sandbox_has_no_variable_no_layer_and_nothing_that_two_users_share(name):
    function = RESOURCES[name]
    # SAM's own type would bring the environment and the layers of Globals.
    assert function["Type"] == "AWS::Lambda::Function"
    properties = function["Properties"]
    assert {"Environment", "Layers", "FileSystemConfigs", "KmsKeyArn"}.isdisjoint(properties)
    assert properties["PackageType"] == "Image"
    assert properties["TenancyConfig"] == {"TenantIsolationMode": "PER_TENANT"}


def test_the_image_brings_no_variable_but_where_the_runtime_is():
    lines = Path("functions/sandbox/Dockerfile").read_text(encoding="utf-8").splitlines()
    (variables,) = [line.removeprefix("ENV ").split() for line in lines if line.startswith("ENV ")]
    assert {variable.partition("=")[0] for variable in variables} == {"SATCHEL_SANDBOX", "SATCHEL_SANDBOX_DIR"}
    assert not [line for line in lines if line.startswith("ARG ")]


def test_both_sandboxes_stand_behind_the_same_walls():
    short, long = (RESOURCES[name]["Properties"] for name in SANDBOXES)
    walls = ("Code", "Role", "VpcConfig", "TenancyConfig", "PackageType")
    assert {name: short[name] for name in walls} == {name: long[name] for name in walls}
    assert short["Role"] == {"Fn::GetAtt": ["SandboxRole", "Arn"]}


def test_the_role_may_write_its_log_be_attached_to_its_subnets_and_read_nothing():
    role = RESOURCES["SandboxRole"]["Properties"]
    assert "ManagedPolicyArns" not in role
    allowed = [told for told in statements(role) if told["Effect"] == "Allow"]
    logs, network = sorted(allowed, key=lambda told: told["Action"], reverse=True)
    assert logs["Action"] == ["logs:CreateLogStream", "logs:PutLogEvents"]
    assert logs["Resource"] == [{"Fn::GetAtt": [f"{name}Logs", "Arn"]} for name in ("Sandbox", "SandboxLong")]
    # What Lambda asks for to attach a function to a network, and which the function itself is denied.
    # https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html#configuration-vpc-permissions
    assert set(network["Action"]) == {
        f"ec2:{action}"
        for action in (
            "CreateNetworkInterface", "DescribeNetworkInterfaces", "DescribeSubnets", "DeleteNetworkInterface",
            "AssignPrivateIpAddresses", "UnassignPrivateIpAddresses",
        )
    }  # fmt: skip
    (denied,) = [told for told in statements(role) if told["Effect"] == "Deny"]
    assert (denied["Action"], denied["Resource"]) == ("ec2:*", "*")
    sources = [arn["Fn::Sub"] for arn in denied["Condition"]["ArnEquals"]["lambda:SourceFunctionArn"]]
    names = [RESOURCES[name]["Properties"]["FunctionName"]["Fn::Sub"] for name in SANDBOXES]
    assert [source.partition(":function:")[2] for source in sources] == names


def test_nothing_else_gives_the_role_a_right_or_takes_it():
    assert named_by("SandboxRole") == set(SANDBOXES)
    (trusted,) = RESOURCES["SandboxRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    assert trusted["Principal"] == {"Service": "lambda.amazonaws.com"}


def test_no_way_leads_out_of_the_sandboxes_network_or_into_it():
    subnets = {"SandboxSubnetA", "SandboxSubnetB"}
    for name in SANDBOXES:
        network = RESOURCES[name]["Properties"]["VpcConfig"]
        assert {subnet["Ref"] for subnet in network["SubnetIds"]} == subnets
        assert network["SecurityGroupIds"] == [{"Ref": "SandboxSecurityGroup"}]
        assert not network.get("Ipv6AllowedForDualStack")
    # No gateway, endpoint, peering or route: nothing but these knows the network, and nothing but the functions them.
    assert named_by("SandboxVpc") == {*subnets, "SandboxSecurityGroup"}
    for inside in (*subnets, "SandboxSecurityGroup"):
        assert named_by(inside) == set(SANDBOXES)
        assert RESOURCES[inside]["Properties"]["VpcId"] == {"Ref": "SandboxVpc"}
    for subnet in subnets:
        assert not RESOURCES[subnet]["Properties"].get("MapPublicIpOnLaunch")
    group = RESOURCES["SandboxSecurityGroup"]["Properties"]
    assert "SecurityGroupIngress" not in group
    assert [rule["CidrIp"] for rule in group["SecurityGroupEgress"]] == ["127.0.0.1/32"]


def test_only_the_functions_that_run_programs_may_call_the_sandboxes():
    assert {called for name in SANDBOXES for called in named_by(name)} == {"SandboxPolicy"}
    (invoke,) = RESOURCES["SandboxPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    assert (invoke["Effect"], invoke["Action"]) == ("Allow", "lambda:InvokeFunction")
    assert invoke["Resource"] == [{"Fn::GetAtt": [name, "Arn"]} for name in SANDBOXES]
    assert named_by("SandboxPolicy") == {"RunPythonFunction", "RunBacktestFunction", "BacktestWorkerFunction"}
