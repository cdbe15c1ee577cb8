"""An HTTP request as API Gateway hands it to a function, whatever the kind of API and however it is addressed."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast
from urllib.parse import parse_qsl, urlencode, urlsplit

from satchel.api.envelopes import http_body
from satchel.errors import NotFoundError


@dataclass(frozen=True, slots=True)
class GatewayRequest:
    """One request.

    Attributes:
        method: In upper case.
        path: As our routes know it, without the name of a stage.
        base_url: What stands before `path` in the URL the caller used: scheme, host and, where there is one, the
            stage (`https://abc.execute-api.eu-west-1.amazonaws.com/prod`). No slash at the end.
        host: The `Host` header.
        domain_name: The domain of the API that took the request.
        query: The query string, percent-encoded, without `?`.
        headers: Names in lower case; HTTP APIs join repeated ones with commas.
        event: The event, for its body.
        request_id: API Gateway's name for this request; empty where the event has none.
        received_at_s: When API Gateway received it, in seconds since the epoch; 0 where the event does not say.
    """

    method: str
    path: str
    base_url: str
    host: str
    domain_name: str
    query: str
    headers: Mapping[str, str]
    event: Mapping[str, Any]
    request_id: str
    received_at_s: float = 0.0

    @property
    def url(self) -> str:
        """The URL the caller used, without its query."""
        return self.base_url + self.path

    def query_values(self, name: str) -> list[str]:
        """Every value of one query parameter, in order."""
        return [value for key, value in parse_qsl(self.query, keep_blank_values=True) if key == name]

    def check_path(self) -> None:
        """Return where there can be something at the path.

        Raises:
            NotFoundError: It holds a NUL, which no id has and no store could look for.
        """
        if "\0" in self.path:
            raise NotFoundError("there is nothing at this path")

    def body(self) -> bytes:
        """The body.

        Raises:
            InvalidInputError: It says it is base64 and is not.
        """
        return http_body(cast("dict[str, Any]", self.event))


def gateway_request(event: Mapping[str, Any]) -> GatewayRequest:
    """Read an event of an HTTP API (payload format 2.0) or a REST API (1.0).

    A stage is part of the path on API Gateway's own domain and absent on a custom one. HTTP APIs leave it in
    `rawPath`; REST APIs take it out of `path` and keep it in `requestContext.path`.
    """
    context = cast("Mapping[str, Any]", event.get("requestContext") or {})
    sent = cast("Mapping[str, Any]", event.get("headers") or {})
    headers = {name.lower(): str(value).strip() for name, value in sent.items()}
    http = cast("Mapping[str, Any] | None", context.get("http"))
    if http is not None:
        method, sent_path = str(http["method"]), str(event.get("rawPath") or "/")
        query = str(event.get("rawQueryString") or "")
        stage = f"/{context.get('stage', '$default')}"
        prefix = stage if sent_path == stage or sent_path.startswith(f"{stage}/") else ""
        path = sent_path.removeprefix(prefix) or "/"
    else:
        method, path = str(event.get("httpMethod", "")), str(event.get("path") or "/")
        query = urlencode(event.get("multiValueQueryStringParameters") or {}, doseq=True)
        sent_path = str(context.get("path") or path)
        prefix = sent_path.removesuffix(path) if sent_path.endswith(path) else ""
    domain_name = str(context.get("domainName") or "")
    host = headers.get("host") or domain_name
    scheme = headers.get("x-forwarded-proto") or ("http" if is_loopback(host) else "https")
    return GatewayRequest(
        method=method.upper(),
        path=path,
        base_url=f"{scheme}://{host}{prefix}",
        host=host,
        domain_name=domain_name,
        query=query,
        headers=headers,
        event=event,
        request_id=str(context.get("requestId") or ""),
        received_at_s=float(context.get("timeEpoch") or context.get("requestTimeEpoch") or 0) / 1000,
    )


@lru_cache(maxsize=64)
def is_loopback(host: str) -> bool:
    """Whether a `Host` header (`name`, `name:port`, `[::1]:port`) names this machine itself."""
    name = host_name(host)
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name or "").is_loopback
    except ValueError:
        return False


@lru_cache(maxsize=64)
def host_name(host: str) -> str | None:
    """The name in a `Host` header, in lower case and without a port; None where it is not one."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # raises where the port is not a number
    except ValueError:
        return None
    return parts.hostname if parts.username is None and not parts.path and not parts.query else None
