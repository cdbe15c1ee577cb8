"""`satchel save`, `search` and `status`: what a person asks a running server."""

import argparse
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from satchel.cli.api_client import ApiClient
from satchel.cli.options import add_server, base_url
from satchel.memory.excerpt import excerpt

if TYPE_CHECKING:
    from satchel.cli.options import Commands

SHOWN_CHARS = 160
"""Of each hit, on its line."""


def add_commands(commands: "Commands") -> None:
    """Adds `save`, `search` and `status`."""
    save = commands.add_parser("save", help="save one message", description="Save one message of a conversation.")
    save.add_argument("text", help="the message")
    save.add_argument("--role", default="user", help="user, assistant, system or tool (default: user)")
    save.add_argument("--session", help="conversation it belongs to (default: default)")
    save.add_argument("--id", help="message id; saving the same message again changes nothing (default: a new one)")
    save.add_argument("--timestamp", help="ISO-8601 or epoch seconds or milliseconds (default: now)")
    finish(save, _save)

    search = commands.add_parser("search", help="search the messages", description="Search the saved messages.")
    search.add_argument("query", help="what to look for, in any language; * lists the newest")
    search.add_argument("--limit", type=int, help="most messages to show, 1 to 100 (default: 5)")
    finish(search, _search)

    status = commands.add_parser(
        "status", help="say whether the server answers", description="Ask the server whether everything serves."
    )
    finish(status, _status)


def finish(parser: argparse.ArgumentParser, run: Callable[[argparse.Namespace], None]) -> None:
    """Adds what every command that asks a server takes, and says what runs it."""
    add_server(parser)
    parser.set_defaults(run=run)


def _save(arguments: argparse.Namespace) -> None:
    given = {
        "role": arguments.role,
        "content": arguments.text,
        "session_id": arguments.session,
        "message_id": arguments.id,
        "timestamp": arguments.timestamp,
    }
    result = client_of(arguments).call_tool("save_message", {k: v for k, v in given.items() if v is not None})
    message = result["message"]
    verb = "Was already saved" if result["duplicate"] else "Saved"
    show(arguments, result, f"{verb}: {message['message_id']} in {message['session_id']}, {message['created_at']}")


def _search(arguments: argparse.Namespace) -> None:
    given = {"query": arguments.query, "limit": arguments.limit}
    asked = {name: value for name, value in given.items() if value is not None}
    client = client_of(arguments)
    result = client.call_tool("search_conversation", asked)
    heading = ""
    if result["below_min_score"] and not result["hits"] and not arguments.json:
        # An agent is better off with nothing than with a guess; a person judges at a glance.
        result = client.call_tool("search_conversation", {**asked, "min_score": 0})
        heading = "Nothing is likely to answer that. The closest:\n"
    show(arguments, result, heading + "\n".join(map(describe_hit, result["hits"])) or "Nothing found.")


def _status(arguments: argparse.Namespace) -> None:
    client = client_of(arguments)
    client.request("GET", "/healthz")
    client.request("GET", "/v1/resources?uri=context://system-prompt")
    result = {"status": "ok", "url": client.url, "mcp_url": f"{client.url}/mcp"}
    show(arguments, result, f"Serving at {client.url}; MCP at {client.url}/mcp; the token is accepted.")


def describe_hit(hit: dict[str, Any]) -> str:
    """One search hit as a line: score, time, who, and the text's beginning."""
    message = hit["message"]
    text = excerpt(message["content"], SHOWN_CHARS)
    return f"{hit['score']:.2f}  {message['created_at']}  {message['role']}: {text}"


def client_of(arguments: argparse.Namespace) -> ApiClient:
    """The server that the arguments name, as the user they name."""
    return ApiClient(arguments.url or base_url(arguments.data), arguments.user, arguments.data)


def show(arguments: argparse.Namespace, result: dict[str, Any], text: str) -> None:
    """Prints a result: as one JSON object where that was asked for, else as text."""
    print(json.dumps(result, ensure_ascii=False) if arguments.json else text)
