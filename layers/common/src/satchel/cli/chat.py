"""`satchel chat`: a conversation with the assistant, on the terminal."""

import argparse
import sys
import time
import uuid
from typing import TYPE_CHECKING, Any

from satchel.cli.errors import CommandError
from satchel.cli.requests import client_of, finish, show

if TYPE_CHECKING:
    from satchel.cli.api_client import ApiClient
    from satchel.cli.options import Commands

_HELP = "Say something; /context shows what the last answer was given, /new begins a conversation, Ctrl-D ends."
_POLL_S = 1.0
_PATIENCE_S = 330.0


def add_commands(commands: "Commands") -> None:
    """Adds `chat`."""
    chat = commands.add_parser(
        "chat", help="talk to the assistant", description="Talk to the assistant, which knows what you said before."
    )
    chat.add_argument("--message", help="say this, print the answer and end (default: talk)")
    chat.add_argument("--session", default="default", help="conversation it belongs to (default: default)")
    finish(chat, _run)


def _run(arguments: argparse.Namespace) -> None:
    client = client_of(arguments)
    if arguments.message is not None:
        answer = _say(client, arguments.message, arguments.session)
        show(arguments, answer, answer["text"])
        return
    _talk(client, arguments.session)


def _talk(client: "ApiClient", session: str) -> None:
    print(_HELP, file=sys.stderr)
    context: dict[str, str] = {}
    while (said := _line()) is not None:
        if said == "/context":
            print("\n".join(f"== {uri}\n{text}" for uri, text in context.items()) or "Nothing yet.")
        elif said == "/new":
            session = str(uuid.uuid4())
            print(f"Conversation {session}.")
        elif said:
            try:
                answer = _say(client, said, session)
            except CommandError as error:
                print(f"satchel: {error}", file=sys.stderr)
                continue
            context = answer.get("context", {})
            print(answer["text"])


def _line() -> str | None:
    """What is said next; None at the end."""
    try:
        return input("> ").strip()
    except (EOFError, KeyboardInterrupt):
        print()
        return None


def _say(client: "ApiClient", text: str, session: str) -> dict[str, Any]:
    """The answer, however long it takes."""
    said = {"message": text, "session_id": session, "message_id": str(uuid.uuid4()), "show_context": True}
    answer = client.request("POST", "/v1/chat", said)
    end = time.monotonic() + _PATIENCE_S
    while "job_id" in answer:
        if time.monotonic() > end:
            raise CommandError("The answer takes too long.")
        time.sleep(_POLL_S)
        job = client.request("GET", f"/v1/chat/jobs/{answer['job_id']}")
        if job["status"] == "failed":
            raise CommandError(job["error"]["message"])
        answer = job.get("result") or answer
    return answer
