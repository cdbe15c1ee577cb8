"""`satchel chat`: a conversation with the assistant, on the terminal."""

import argparse
import sys
import time
import uuid
from typing import TYPE_CHECKING, Any

from satchel.cli.chat_socket import ChatSocket, NoSocketError
from satchel.cli.errors import CommandError
from satchel.cli.requests import client_of, finish, show

if TYPE_CHECKING:
    from satchel.cli.api_client import ApiClient
    from satchel.cli.options import Commands

_HELP = (
    "Say something; /context shows what the last answer was given, /new begins a conversation, /help prints this, "
    "Ctrl-D ends. What begins with a slash is said with two: //etc is /etc."
)
_POLL_S = 1.0
_PATIENCE_S = 330.0


def add_commands(commands: "Commands") -> None:
    """Adds `chat`."""
    chat = commands.add_parser(
        "chat", help="talk to the assistant", description="Talk to the assistant, which knows what you said before."
    )
    chat.add_argument("--message", help="say this, print the answer and end (default: talk)")
    chat.add_argument("--session", default="default", help="conversation it belongs to (default: default)")
    chat.add_argument("--context", action="store_true", help="show the context that each answer was given")
    chat.add_argument("--socket", metavar="URL", help="where WebSockets connect (default: /socket of the server)")
    finish(chat, _run)


def _run(arguments: argparse.Namespace) -> None:
    client = client_of(arguments)
    url = arguments.socket or f"{client.url.replace('http', 'ws', 1)}/socket"
    assistant = _Assistant(client, ChatSocket(url, client.token), shows=not arguments.json)
    try:
        if arguments.message is None:
            _talk(assistant, arguments.session, shows_context=arguments.context)
            return
        answer = assistant.say(arguments.message, arguments.session)
        if arguments.json:
            show(arguments, answer, "")
        elif arguments.context:
            print(_described(answer.get("context", {})))
    finally:
        assistant.socket.close()


def _talk(assistant: "_Assistant", session: str, *, shows_context: bool) -> None:
    print(_HELP, file=sys.stderr)
    context: dict[str, str] = {}
    while (said := _line()) is not None:
        if said == "/context":
            print(_described(context))
        elif said == "/new":
            session = str(uuid.uuid4())
            print(f"Conversation {session}.")
        elif said == "/help":
            print(_HELP)
        elif said.startswith("/") and not said.startswith("//"):
            print(f"satchel: There is no command {said}. {_HELP}", file=sys.stderr)
        elif said:
            try:
                context = assistant.say(said.removeprefix("/"), session).get("context", {})
            except CommandError as error:
                print(f"satchel: {error}", file=sys.stderr)
                continue
            if shows_context:
                print(_described(context))


def _described(context: dict[str, str]) -> str:
    return "\n".join(f"== {uri}\n{text}" for uri, text in context.items()) or "Nothing yet."


def _line() -> str | None:
    """What is said next; None at the end."""
    try:
        return input("> ").strip()
    except (EOFError, KeyboardInterrupt):
        print()
        return None


class _Assistant:
    """Says things to the assistant and prints what it answers, as it comes.

    Args:
        client: The server.
        socket: Its WebSocket API; where there is none the answer comes in one piece.
        shows: Whether to print.
    """

    def __init__(self, client: "ApiClient", socket: ChatSocket, *, shows: bool) -> None:
        self.socket = socket
        self._client = client
        self._shows = shows
        self._has_socket = True
        self._printed = ""

    def say(self, text: str, session: str) -> dict[str, Any]:
        """The answer, however long it takes."""
        said = {"message": text, "session_id": session, "message_id": str(uuid.uuid4()), "show_context": True}
        self._printed = ""
        answer = self._ask(said)
        if self._printed.strip() != answer["text"]:
            self._end_line()
            self._text(answer["text"])
        self._end_line()
        return {name: value for name, value in answer.items() if name != "type"}

    def _ask(self, said: dict[str, Any]) -> dict[str, Any]:
        if self._has_socket:
            try:
                return self.socket.say(said, on_text=self._text, on_tool=self._tool)
            except NoSocketError:
                self._has_socket = False
            except CommandError:
                self._end_line()
                raise
        return _answer_of(self._client, said)

    def _text(self, piece: str) -> None:
        if self._shows:
            print(piece, end="", flush=True)
            self._printed += piece

    def _tool(self, name: str, state: str) -> None:
        self._end_line()
        if self._shows:
            print(f"[{name}: {state}]", file=sys.stderr)

    def _end_line(self) -> None:
        if self._printed and not self._printed.endswith("\n"):
            print(flush=True)
        self._printed = ""


def _answer_of(client: "ApiClient", said: dict[str, Any]) -> dict[str, Any]:
    """The answer in one piece, over plain HTTP."""
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
