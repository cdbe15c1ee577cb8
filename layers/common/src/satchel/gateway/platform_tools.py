"""The gateway's own tools."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from satchel.agent.routing import PLATFORM_SERVER, Tool
from satchel.gateway.user_server import PlatformTool


def platform_tools(clock: Callable[[], datetime]) -> Sequence[PlatformTool]:
    """The tools that need no server.

    Args:
        clock: Now, aware UTC.
    """

    def current_time(arguments: Mapping[str, Any]) -> str:
        name = str(arguments.get("time_zone") or "UTC")
        try:
            zone = ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return f"There is no time zone {name!r}; use a name such as Asia/Seoul."
        now = clock().astimezone(zone)
        return f"{now.isoformat(timespec='seconds')} ({now:%A}, {name})"

    schema = {
        "type": "object",
        "properties": {"time_zone": {"type": "string", "description": "IANA name; default: UTC."}},
        "additionalProperties": False,
    }
    described = "The current date and time, to the second, in any time zone."
    return ((Tool(PLATFORM_SERVER, "current_time", described, schema, read_only=True), current_time),)
