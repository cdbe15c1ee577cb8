"""What a SAM template declares, as values the local stack can serve: functions, routes, authorizers, CORS, events."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Function:
    """One Lambda function.

    `code` is the absolute folder it runs in and `handler` is `module.function` there. For a container image both come
    from its build metadata (`DockerContext`, `ImageConfig.Command`). `layers` are absolute folders, in template order.
    """

    logical_id: str
    name: str
    arn: str
    code: Path
    handler: str
    timeout_s: float
    memory_mb: int
    ephemeral_storage_mb: int
    runtime: str
    log_format: str
    environment: Mapping[str, str]
    layers: tuple[Path, ...] = ()
    image: bool = False


@dataclass(frozen=True)
class Authorizer:
    """A JWT authorizer of an HTTP API: who must have signed, and for whom."""

    name: str
    issuer: str
    audience: tuple[str, ...]


@dataclass(frozen=True)
class Route:
    """One route of the HTTP API; `$default` has an empty method and path.

    `method` is upper case or `ANY`; `authorizer` is None where anybody may call.
    """

    method: str
    path: str
    function: str
    authorizer: str | None = None
    scopes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The route key as API Gateway writes it."""
        return f"{self.method} {self.path}" if self.path else "$default"


@dataclass(frozen=True)
class Cors:
    """An HTTP API's `CorsConfiguration`."""

    origins: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    expose: tuple[str, ...] = ()
    max_age_s: int | None = None
    credentials: bool = False


@dataclass(frozen=True)
class EventSource:
    """An event that is not HTTP: `kind` is the SAM type (`SQS`, `ScheduleV2`, …), `properties` as written."""

    function: str
    name: str
    kind: str
    properties: Mapping[str, Any]


@dataclass(frozen=True)
class Queue:
    """A queue of SQS.

    `visibility_s` is how long a message that was handed out is kept from others. After `max_receives` times it goes to
    the queue `dead_letter_arn`; None keeps it for ever.
    """

    name: str
    arn: str
    visibility_s: float
    max_receives: int | None = None
    dead_letter_arn: str | None = None


@dataclass(frozen=True)
class QueueReader:
    """A function that Lambda hands the messages of a queue; at most `at_once` of them at a time."""

    function: str
    queue_arn: str
    at_once: int | None = None


@dataclass(frozen=True)
class WebSocketRoute:
    """One route of a WebSocket API: `$connect`, `$disconnect`, `$default` or an action's name.

    `authorizer` is the function that is asked who connects; None where nobody is.
    """

    api: str
    route_key: str
    function: str
    authorizer: str | None = None


@dataclass(frozen=True)
class Application:
    """A whole template. Functions are named by logical id everywhere in it."""

    functions: Mapping[str, Function]
    routes: tuple[Route, ...]
    authorizers: Mapping[str, Authorizer]
    cors: Cors | None
    event_sources: tuple[EventSource, ...]
    web_socket_routes: tuple[WebSocketRoute, ...]
    queues: tuple[Queue, ...] = ()
    queue_readers: tuple[QueueReader, ...] = ()

    def find(self, name: str) -> Function | None:
        """The function of a logical id, a name with or without the stack's, an ARN, or a code folder."""
        bare = name.split(":function:", 1)[-1].split(":", 1)[0]
        for function in self.functions.values():
            if bare in {function.logical_id, function.name, function.name.split("-", 1)[-1]}:
                return function
        in_folder = [function for function in self.functions.values() if function.code.name == bare.rstrip("/")]
        return in_folder[0] if len(in_folder) == 1 else None
