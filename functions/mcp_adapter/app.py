"""Serves MCP, and the metadata that tells clients how to sign in."""

from typing import Any

from satchel.api.handler import LambdaContext
from satchel.mcp_wiring import mcp_adapter


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answer `POST /mcp` and `GET /.well-known/oauth-protected-resource[/mcp]`."""
    return mcp_adapter().handle(event, context)
