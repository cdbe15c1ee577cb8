"""An MCP server with a tool that changes something, slowly, and writes down each time it is called."""

import sys
import time
from pathlib import Path

from mcp.server import MCPServer

server = MCPServer("slow")
_CALLS = Path(sys.argv[1])


@server.tool()
def transfer(amount: str) -> str:
    """Move money. Changes something."""
    with _CALLS.open("a", encoding="utf-8") as calls:
        calls.write(f"{amount}\n")
    time.sleep(4)
    return f"moved {amount}"


if __name__ == "__main__":
    server.run()
