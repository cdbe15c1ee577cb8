"""Reads a SAM template: what of it the local stack can serve, with the defaults that the cloud would take."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from satchel.local.cloudformation import QUEUE, Resolver, TemplateError, load
from satchel.local.template import (
    Application,
    Authorizer,
    Cors,
    EventSource,
    Function,
    Queue,
    QueueReader,
    Route,
    WebSocketRoute,
)

_FUNCTION = "AWS::Serverless::Function"
_IMAGE_FUNCTION = "AWS::Lambda::Function"
_OF_THE_IMAGE = frozenset({"PackageType", "Code", "Role", "VpcConfig", "Architectures"})
_HTTP_API = "AWS::Serverless::HttpApi"
_IMPLICIT_API = "ServerlessHttpApi"
# Lambda's own defaults: https://docs.aws.amazon.com/lambda/latest/api/API_FunctionConfiguration.html
_DEFAULT_TIMEOUT_S = 3
_DEFAULT_MEMORY_MB = 128
_DEFAULT_EPHEMERAL_STORAGE_MB = 512
# SQS's own default: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html.
_DEFAULT_VISIBILITY_S = 30


@dataclass
class _Reader:
    document: Mapping[str, Any]
    resolver: Resolver
    root: Path
    globals_: Mapping[str, Any]
    functions: dict[str, Function] = field(default_factory=dict[str, Function])
    routes: list[Route] = field(default_factory=list[Route])
    sources: list[EventSource] = field(default_factory=list[EventSource])

    def resources(self, kind: str) -> list[tuple[str, dict[str, Any], Mapping[str, Any]]]:
        """Logical id, resolved properties and the raw resource of each existing resource of a type."""
        found: list[tuple[str, dict[str, Any], Mapping[str, Any]]] = []
        for logical_id, resource in self.document.get("Resources", {}).items():
            if resource.get("Type") == kind and self.resolver.exists(resource):
                found.append((logical_id, self.resolver.resolve(resource.get("Properties", {})), resource))
        return found

    def read_function(self, logical_id: str, own: dict[str, Any], resource: Mapping[str, Any]) -> None:
        properties = _merge(self.globals_.get("Function", {}), own)
        metadata = self.resolver.resolve(resource.get("Metadata", {}))
        image = properties.get("PackageType") == "Image"
        code = metadata.get("DockerContext", ".") if image else properties.get("CodeUri", ".")
        handler = (properties.get("ImageConfig", {}).get("Command") or [""])[0] if image else properties.get("Handler")
        if not handler:
            raise TemplateError(f"{logical_id} names no handler.")
        name = str(properties.get("FunctionName", f"{self.resolver.stack_name}-{logical_id}"))
        variables = properties.get("Environment", {}).get("Variables", {})
        self.functions[logical_id] = Function(
            logical_id=logical_id,
            name=name,
            arn=self.resolver.function_arn(name),
            code=(self.root / str(code)).resolve(),
            handler=str(handler),
            timeout_s=float(properties.get("Timeout", _DEFAULT_TIMEOUT_S)),
            memory_mb=int(properties.get("MemorySize", _DEFAULT_MEMORY_MB)),
            ephemeral_storage_mb=int(properties.get("EphemeralStorage", {}).get("Size", _DEFAULT_EPHEMERAL_STORAGE_MB)),
            runtime=str(properties.get("Runtime", "python3.13")),
            log_format=str(properties.get("LoggingConfig", {}).get("LogFormat", "Text")),
            environment={key: _text(value) for key, value in variables.items()},
            layers=tuple(self._layers(properties.get("Layers", []))),
            image=image,
        )

    def local_images(self) -> list[tuple[str, dict[str, Any], Mapping[str, Any]]]:
        """Functions of Lambda's own type that say how they run here without their image (`Metadata: SatchelLocal`).

        They are there whatever their condition says: it is about an image in a registry.
        """
        found: list[tuple[str, dict[str, Any], Mapping[str, Any]]] = []
        for logical_id, resource in self.document.get("Resources", {}).items():
            here = resource.get("Metadata", {}).get("SatchelLocal")
            if resource.get("Type") == _IMAGE_FUNCTION and here:
                kept = {key: value for key, value in resource["Properties"].items() if key not in _OF_THE_IMAGE}
                found.append((logical_id, self.resolver.resolve({**kept, **here}), resource))
        return found

    def _layers(self, references: list[Any]) -> list[Path]:
        layers = {logical_id: own for logical_id, own, _ in self.resources("AWS::Serverless::LayerVersion")}
        return [(self.root / str(layers[str(ref)]["ContentUri"])).resolve() for ref in references if str(ref) in layers]

    def read_events(self, logical_id: str, own: dict[str, Any], apis: Mapping[str, Mapping[str, Any]]) -> None:
        for name, event in own.get("Events", {}).items():
            properties = cast("dict[str, Any]", event.get("Properties", {}))
            if event.get("Type") != "HttpApi":
                self.sources.append(EventSource(logical_id, name, str(event.get("Type")), properties))
                continue
            api = str(properties.get("ApiId", _IMPLICIT_API))
            api_auth = apis.get(api, {}).get("Auth", {})
            auth = properties.get("Auth", {})
            authorizer = auth.get("Authorizer", api_auth.get("DefaultAuthorizer"))
            self.routes.append(
                Route(
                    method=_method(str(properties.get("Method", ""))),
                    path=str(properties.get("Path", "")).replace("$default", ""),
                    function=logical_id,
                    authorizer=None if authorizer in {None, "NONE"} else str(authorizer),
                    scopes=tuple(auth.get("AuthorizationScopes", ())),
                )
            )

    def authorizers(self, apis: Mapping[str, Mapping[str, Any]]) -> dict[str, Authorizer]:
        found: dict[str, Authorizer] = {}
        for api in apis.values():
            for name, authorizer in api.get("Auth", {}).get("Authorizers", {}).items():
                jwt = authorizer.get("JwtConfiguration", {})
                audience = jwt.get("audience", [])
                audience = [audience] if isinstance(audience, str) else audience
                found[name] = Authorizer(name, str(jwt.get("issuer", "")), tuple(map(str, audience)))
        return found

    def web_socket_routes(self) -> list[WebSocketRoute]:
        apis = {i for i, own, _ in self.resources("AWS::ApiGatewayV2::Api") if own.get("ProtocolType") == "WEBSOCKET"}
        targets = {
            i: str(own.get("IntegrationUri", "")) for i, own, _ in self.resources("AWS::ApiGatewayV2::Integration")
        }
        askers = {
            i: self._function_in(str(own.get("AuthorizerUri", "")))
            for i, own, _ in self.resources("AWS::ApiGatewayV2::Authorizer")
        }
        routes: list[WebSocketRoute] = []
        for logical_id, own, _ in self.resources("AWS::ApiGatewayV2::Route"):
            if str(own.get("ApiId")) not in apis:
                continue
            function = self._function_in(targets.get(str(own.get("Target", "")).removeprefix("integrations/"), ""))
            if function is None:
                raise TemplateError(f"{logical_id} does not lead to a function of this template.")
            authorizer = askers.get(str(own.get("AuthorizerId", "")))
            routes.append(WebSocketRoute(str(own["ApiId"]), str(own["RouteKey"]), function, authorizer))
        return routes

    def queues(self) -> list[Queue]:
        found: list[Queue] = []
        for logical_id, own, _ in self.resources(QUEUE):
            redrive = own.get("RedrivePolicy", {})
            most = redrive.get("maxReceiveCount")
            found.append(
                Queue(
                    name=self.resolver.queue_name(logical_id),
                    arn=self.resolver.resolve({"Fn::GetAtt": [logical_id, "Arn"]}),
                    visibility_s=float(own.get("VisibilityTimeout", _DEFAULT_VISIBILITY_S)),
                    max_receives=int(most) if most is not None else None,
                    dead_letter_arn=redrive.get("deadLetterTargetArn"),
                )
            )
        return found

    def queue_readers(self) -> list[QueueReader]:
        """Readers in either spelling: an event of a function, or a mapping of its own (which grants it no rights)."""
        events = [(s.function, s.properties.get("Queue"), s.properties) for s in self.sources if s.kind == "SQS"]
        names = {function.name: logical_id for logical_id, function in self.functions.items()}
        mappings = [
            (names.get(str(own.get("FunctionName"))), own.get("EventSourceArn"), own)
            for _, own, _ in self.resources("AWS::Lambda::EventSourceMapping")
        ]
        return [
            QueueReader(function, str(arn), own.get("ScalingConfig", {}).get("MaximumConcurrency"))
            for function, arn, own in (*events, *mappings)
            if function is not None
        ]

    def _function_in(self, uri: str) -> str | None:
        """The function that an integration's URI leads to."""
        return next((f.logical_id for f in self.functions.values() if f"{f.arn}/" in f"{uri}/"), None)


def read(path: Path, *, stack_name: str, parameters: Mapping[str, str] | None = None) -> Application:
    """Reads a SAM template; folders in it are relative to the file.

    Raises:
        TemplateError: The file cannot be read or does not say enough to run a function.
    """
    try:
        document = load(path.read_text("utf-8"))
    except OSError as error:
        raise TemplateError(f"The template {path} cannot be read: {error.strerror}.") from error
    resolver = Resolver(document, stack_name, parameters or {})
    reader = _Reader(document, resolver, path.parent, resolver.resolve(document.get("Globals", {})))
    api_defaults = reader.globals_.get("HttpApi", {})
    apis = {logical_id: _merge(api_defaults, own) for logical_id, own, _ in reader.resources(_HTTP_API)}
    apis.setdefault(_IMPLICIT_API, dict(api_defaults))
    for logical_id, own, resource in reader.resources(_FUNCTION):
        reader.read_function(logical_id, own, resource)
        reader.read_events(logical_id, own, apis)
    for logical_id, own, resource in reader.local_images():
        reader.read_function(logical_id, own, resource)
    authorizers = reader.authorizers(apis)
    for route in reader.routes:
        if route.authorizer is not None and route.authorizer not in authorizers:
            raise TemplateError(f"The route {route.key} names the authorizer {route.authorizer}, which does not exist.")
    cors = next((_cors(api["CorsConfiguration"]) for api in apis.values() if api.get("CorsConfiguration")), None)
    return Application(
        functions=reader.functions,
        routes=tuple(reader.routes),
        authorizers=authorizers,
        cors=cors,
        event_sources=tuple(reader.sources),
        web_socket_routes=tuple(reader.web_socket_routes()),
        queues=tuple(reader.queues()),
        queue_readers=tuple(reader.queue_readers()),
    )


def _method(declared: str) -> str:
    """A method as route keys have it; SAM spells "any" in three ways."""
    upper = declared.upper()
    return "ANY" if upper in {"*", "X-AMAZON-APIGATEWAY-ANY-METHOD"} else upper


def _cors(configuration: Any) -> Cors:
    if configuration is True:
        return Cors(origins=("*",), methods=("*",), headers=("*",))
    cors = Cors(
        origins=tuple(map(str, configuration.get("AllowOrigins", ()))),
        methods=tuple(map(str, configuration.get("AllowMethods", ()))),
        headers=tuple(map(str, configuration.get("AllowHeaders", ()))),
        expose=tuple(map(str, configuration.get("ExposeHeaders", ()))),
        max_age_s=configuration.get("MaxAge"),
        credentials=str(configuration.get("AllowCredentials", "false")).lower() == "true",
    )
    if cors.credentials and "*" in cors.origins:
        raise TemplateError("CorsConfiguration allows credentials for every origin; API Gateway refuses that.")
    return cors


def _merge(defaults: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """SAM's rule for Globals: mappings merge, lists add up, anything else is replaced."""
    merged = dict(defaults)
    for key, value in own.items():
        default = merged.get(key)
        if isinstance(default, dict) and isinstance(value, dict):
            merged[key] = _merge(cast("dict[str, Any]", default), cast("dict[str, Any]", value))
        elif isinstance(default, list) and isinstance(value, list):
            merged[key] = [*cast("list[Any]", default), *cast("list[Any]", value)]
        else:
            merged[key] = value
    return merged


def _text(value: Any) -> str:
    """An environment variable is text: YAML's booleans are spelled as CloudFormation spells them."""
    return str(value).lower() if isinstance(value, bool) else str(value)
