from pathlib import Path

import pytest

from satchel.local import template_reader
from satchel.local.cloudformation import Resolver, TemplateError, load
from satchel.local.template import Application, Cors, Queue, QueueReader, Route

PROJECT = Path(__file__).parents[2] / "fixtures/local_stack"


def read(**parameters: str) -> Application:
    path = PROJECT / "template.yaml"
    return template_reader.read(path, stack_name="probes", parameters={"Issuer": "http://issuer.example", **parameters})


def write(tmp_path: Path, resources: str) -> Path:
    path = tmp_path / "template.yaml"
    path.write_text(f"Resources:\n{resources}")
    return path


def test_a_function_has_its_own_values_over_the_globals():
    probe = read().functions["ProbeFunction"]
    assert probe.name == "probes-probe"
    assert probe.code == PROJECT / "functions/probe"
    assert probe.handler == "app.handler"
    assert (probe.timeout_s, probe.memory_mb, probe.ephemeral_storage_mb) == (5, 256, 512)
    assert probe.environment == {"STACK": "probes", "SECRET": "SomeSecret", "OWN": "a-us-east-1", "MODE": "stable"}
    assert probe.layers == (PROJECT / "layers/shared",)
    assert read().functions["QuickFunction"].timeout_s == 1


def test_a_condition_decides_what_exists_and_which_value_holds():
    assert "BetaFunction" not in read().functions
    beta = read(Beta="yes")
    assert beta.functions["BetaFunction"].name == "probes-BetaFunction"
    assert beta.functions["ProbeFunction"].environment["MODE"] == "beta"


def test_a_container_image_is_run_from_its_build_context():
    container = read().functions["ContainerFunction"]
    assert container.image
    assert container.code == PROJECT / "functions/probe"
    assert container.handler == "app.handler"


def test_routes_know_who_may_call():
    routes = {route.key: route for route in read().routes}
    assert routes["ANY /echo"] == Route("ANY", "/echo", "ProbeFunction")
    assert routes["GET /private"].authorizer == "Jwt"
    assert routes["GET /scoped"].scopes == ("things:read",)
    assert read(Audience="http://other/mcp").authorizers["Jwt"].audience == ("http://other/mcp",)


def test_cors_is_read_with_lists_from_parameters():
    assert read().cors == Cors(
        origins=("http://localhost:6274", "https://app.example"),
        methods=("GET", "POST"),
        headers=("authorization", "content-type", "mcp-protocol-version"),
        expose=("www-authenticate", "retry-after"),
        max_age_s=600,
        credentials=True,
    )


def test_other_events_and_web_socket_routes_are_listed():
    application = read()
    assert [(source.name, source.kind) for source in application.event_sources] == [
        ("Nightly", "ScheduleV2"),
        ("Queue", "SQS"),
    ]
    assert [(route.route_key, route.function) for route in application.web_socket_routes] == [
        ("$connect", "ProbeFunction")
    ]


def test_queues_and_their_readers_are_read_in_either_spelling():
    application = read()
    some, dead = application.queues
    assert dead == Queue("probes-dead", "arn:aws:sqs:us-east-1:000000000000:probes-dead", 30)
    assert some == Queue(
        "probes-SomeQueue",
        "arn:aws:sqs:us-east-1:000000000000:probes-SomeQueue",
        60,
        max_receives=2,
        dead_letter_arn=dead.arn,
    )
    assert application.queue_readers == (
        QueueReader("ProbeFunction", some.arn),
        QueueReader("QuickFunction", dead.arn, at_once=3),
    )


def test_a_function_is_found_by_any_of_its_names():
    application = read()
    broken = application.functions["BrokenFunction"]
    for name in ("BrokenFunction", "probes-BrokenFunction", broken.arn, f"{broken.arn}:live", "broken"):
        assert application.find(name) == broken
    assert application.find("probe") == application.functions["ProbeFunction"]
    assert application.find("nobody") is None


def test_a_folder_that_two_functions_share_names_neither(tmp_path):
    twin = "{Type: AWS::Serverless::Function, Properties: {CodeUri: twins/, Handler: app.handler}}"
    application = template_reader.read(write(tmp_path, f"  A: {twin}\n  B: {twin}\n"), stack_name="s")
    assert application.find("twins") is None


def test_an_image_function_that_says_how_runs_here_without_its_image_whatever_its_condition(tmp_path):
    path = write(
        tmp_path,
        "  Boxed:\n    Type: AWS::Lambda::Function\n    Condition: HasImage\n"
        "    Metadata: {SatchelLocal: {CodeUri: boxed/, Handler: app.handler}}\n"
        "    Properties:\n      FunctionName: stack-boxed\n      PackageType: Image\n      Timeout: 30\n"
        "      Code: {ImageUri: !Ref Nowhere}\n      Role: !GetAtt Nothing.Arn\n",
    )
    function = template_reader.read(path, stack_name="stack").functions["Boxed"]
    assert (function.name, function.code, function.handler) == ("stack-boxed", tmp_path / "boxed", "app.handler")
    assert (function.timeout_s, function.image) == (30.0, False)


def test_credentials_for_every_origin_are_refused(tmp_path):
    path = write(
        tmp_path,
        "  Api:\n    Type: AWS::Serverless::HttpApi\n    Properties:\n"
        "      CorsConfiguration: {AllowOrigins: ['*'], AllowCredentials: true}\n",
    )
    with pytest.raises(TemplateError, match="every origin"):
        template_reader.read(path, stack_name="s")


UNSERVABLE = {
    "names no handler": "  F: {Type: AWS::Serverless::Function, Properties: {CodeUri: x}}\n",
    "Nobody, which does not exist": (
        "  F:\n    Type: AWS::Serverless::Function\n    Properties:\n      Handler: app.h\n      Events:\n"
        "        A: {Type: HttpApi, Properties: {Path: /, Method: get, Auth: {Authorizer: Nobody}}}\n"
    ),
    "no condition named Odd": (
        "  F: {Type: AWS::Serverless::Function, Properties: {Handler: !Ref Gone, FunctionName: !If [Odd, a, b]}}\n"
    ),
    "does not lead to a function": (
        "  Api: {Type: 'AWS::ApiGatewayV2::Api', Properties: {ProtocolType: WEBSOCKET}}\n"
        "  R:\n    Type: AWS::ApiGatewayV2::Route\n"
        "    Properties: {ApiId: !Ref Api, RouteKey: x, Target: integrations/I}\n"
    ),
}


@pytest.mark.parametrize("message", UNSERVABLE)
def test_a_template_that_cannot_be_served_says_why(tmp_path, message):
    with pytest.raises(TemplateError, match=message):
        template_reader.read(write(tmp_path, UNSERVABLE[message]), stack_name="s")


def test_a_file_that_is_absent_or_not_a_template_says_so(tmp_path):
    with pytest.raises(TemplateError, match="cannot be read"):
        template_reader.read(tmp_path / "absent.yaml", stack_name="s")
    with pytest.raises(TemplateError, match="not valid YAML"):
        load("a: [")
    with pytest.raises(TemplateError, match="must be a mapping"):
        load("- a")


def test_a_parameter_without_a_value_is_named():
    with pytest.raises(TemplateError, match="Issuer has no default"):
        template_reader.read(PROJECT / "template.yaml", stack_name="s")


def resolve(text: str, **parameters: str) -> object:
    document = load(
        "Parameters:\n  Size: {Type: Number, Default: 2}\n"
        "Mappings: {Sizes: {prod: {Size: 8}}}\n"
        "Conditions:\n  Big: !And [!Not [!Equals [!Ref Size, 2]], !Or [!Equals [1, 1], !Condition Never]]\n"
        "  Never: !Equals [a, b]\n"
        f"Value: {text}\n"
    )
    return Resolver(document, "s", parameters).resolve(document["Value"])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("!Ref Size", 2),
        ("!Sub 'a-${Size}-${!Literal}-${AWS::Region}'", "a-2-${Literal}-us-east-1"),
        ("!Sub ['${x}/${Size}', {x: !Ref AWS::StackName}]", "s/2"),
        ("!Join ['/', [a, !Ref Size]]", "a/2"),
        ("!Select [1, !Split [',', 'a,b']]", "b"),
        ("!FindInMap [Sizes, prod, Size]", 8),
        ("!If [Big, big, small]", "small"),
        ("[a, !If [Big, b, !Ref AWS::NoValue]]", ["a"]),
        ("{a: !Ref AWS::NoValue, b: 1}", {"b": 1}),
        ("!Ref AWS::NoValue", None),
        ("!GetAtt Cluster.Endpoint.Address", "Cluster.Endpoint.Address"),
        ("!ImportValue shared-name", "shared-name"),
        ("!Select [0, !GetAZs '']", "us-east-1a"),
        ("{Unknown: {Fn::Cidr: [1]}}", {"Unknown": {"Fn::Cidr": [1]}}),
    ],
)
def test_intrinsic_functions_get_the_value_that_can_be_known_offline(text, value):
    assert resolve(text) == value


def test_a_condition_follows_the_parameters():
    assert resolve("!If [Big, big, small]", Size="9") == "big"


def test_a_mapping_without_the_key_and_an_unknown_condition_function_are_named():
    with pytest.raises(TemplateError, match=r"Sizes has no test\.Size"):
        resolve("!FindInMap [Sizes, test, Size]")
    odd = load("Conditions: {Odd: {Fn::Nope: []}}")
    with pytest.raises(TemplateError, match="Fn::Nope is not a condition"):
        Resolver(odd, "s").condition("Odd")
