"""What one request to the MCP endpoint carries besides its JSON: who asks, from which surface, until when."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import ProgressToken, RequestId

from satchel.api.principal import Principal


@dataclass(frozen=True, slots=True)
class Exchange:
    """One HTTP request, as the handlers of the server see it (`ctx.request`).

    Attributes:
        principal: The verified caller.
        request_id: Names the request in logs and errors.
        toolsets: The tool sets that the URL asked for.
        remaining_s: Seconds that are left to answer in, some kept back for the answer itself.
    """

    principal: Principal
    request_id: str
    toolsets: tuple[str, ...]
    remaining_s: Callable[[], float]


@dataclass
class SingleExchange:
    """The SDK's `DispatchContext` for one request that is answered in one piece.

    There is no way back to the client while we work, so requests to it are refused. Notifications are kept, to be
    written before the answer where the client takes a stream.
    """

    transport: TransportContext
    request_id: RequestId
    message_metadata: ServerMessageMetadata
    progress_token: ProgressToken | None
    notifications: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)
    can_send_request: bool = field(default=False, init=False)

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Refuse: a stateless server cannot ask its client anything. Raises NoBackChannelError."""
        del params, opts
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Keep a notification for the stream of this answer."""
        del opts
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = dict(params)
        self.notifications.append(message)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Keep a progress notification, if the client asked for them."""
        if self.progress_token is None:
            return
        params = {"progressToken": self.progress_token, "progress": progress, "total": total, "message": message}
        await self.notify(
            "notifications/progress", {name: value for name, value in params.items() if value is not None}
        )
