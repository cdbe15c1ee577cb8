"""A small MCP server in the manner of Slack: channels, messages in pages, and a name no client accepts."""

from typing import Any

from mcp.server import MCPServer

server = MCPServer("slack-like")
PAGE = 100
TOKEN = "xoxb-" + "284756193027-583920174652-" + "aGk3Lq9ZtR5bXw2PdVn8"
TOPICS = ("lunch is ready", "deploy went well", "budget review at noon", "new office plants", "who has the key card")
MESSAGES = [
    {
        "id": f"m{i}",
        "ts": f"{1_700_000_000 + 60 * i}.000100",
        "user": f"U{i % 11}",
        "channel": "team-core",
        "text": f"security patch for CVE-2024-{i} is out, bot token {TOKEN}" if i % 50 == 0 else TOPICS[i % 5],
    }
    for i in range(500)
]


@server.tool(name="search/messages.v2 all")
def search_messages(query: str, cursor: str = "") -> dict[str, Any]:
    """Search messages."""
    start = int(cursor or 0)
    more = start + PAGE < len(MESSAGES)
    return {
        "ok": True,
        "total": len(MESSAGES),
        "messages": MESSAGES[start : start + PAGE],
        "next_cursor": str(start + PAGE) if more else "",
    }


@server.tool()
def fail(reason: str) -> str:
    """Fail."""
    raise ValueError(f"no: {reason}, token {TOKEN}")


if __name__ == "__main__":
    server.run()
