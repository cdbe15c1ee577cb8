"""Which hosts and origins a request may name: the guard against DNS rebinding and foreign web pages."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from satchel.api.gateway_request import GatewayRequest, host_name, is_loopback
from satchel.errors import ForbiddenError

_EXPOSED = "WWW-Authenticate, Retry-After, Mcp-Protocol-Version"


@dataclass(frozen=True)
class Admission:
    """Allow lists. This machine's own names are always on them, on any port.

    Attributes:
        hosts: Further host names, in lower case and without a port.
        origins: Further origins, such as `https://console.example.com`.
    """

    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()

    def check(self, request: GatewayRequest) -> None:
        """Raise ForbiddenError where the `Host` or the `Origin` is not on the list."""
        if not self._is_known_host(request):
            raise ForbiddenError("this server does not answer to that Host")
        origin = request.headers.get("origin")
        if origin is not None and not self.is_known_origin(origin):
            raise ForbiddenError("this Origin may not call this server")

    def is_known_origin(self, origin: str) -> bool:
        """Whether pages of this origin may call."""
        if origin in self.origins:
            return True
        try:
            parts = urlsplit(origin)
        except ValueError:  # half an IPv6 address
            return False
        return parts.scheme in {"http", "https"} and is_loopback(parts.netloc)

    def cors_headers(self, origin: str | None) -> Mapping[str, str]:
        """Return what lets a page of a known origin read any answer of ours; API Gateway sets the same."""
        if origin is None or not self.is_known_origin(origin):
            return {}
        return {
            "access-control-allow-origin": origin,
            "access-control-expose-headers": _EXPOSED,
            "vary": "origin",
        }

    def _is_known_host(self, request: GatewayRequest) -> bool:
        name = host_name(request.host)
        if name is None:
            return False
        # API Gateway sends nothing on that is not addressed to one of its own names, and those cannot be rebound.
        own = name.endswith(".amazonaws.com") and name == str(request.domain_name).lower()
        return own or name in self.hosts or is_loopback(request.host)
