"""`satchel blocks`: cut a file with a chat into topical blocks and show them in colour."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from satchel.cli.api_client import ApiClient
from satchel.cli.errors import CommandError
from satchel.cli.options import add_server, base_url

if TYPE_CHECKING:
    from satchel.cli.options import Commands

# Below what one request may carry; larger sessions are cut here, by the rules.
REQUEST_BYTES = 4 * 1024 * 1024
_COLOURS = (36, 33, 32, 35, 34, 31)
_TEXT_CHARS = 160
_TAGS = ("CONTEXT", "PROBLEM", "TRIAL", "SOLUTION", "INSIGHT")


def add_commands(commands: "Commands") -> None:
    """Adds `blocks`."""
    parser = commands.add_parser(
        "blocks",
        help="cut a chat into topical blocks",
        description="Cut a chat into topical blocks: a batch request, an array of messages, or one message a line "
        "(messageId, role, content, timestamp, speaker). Up to 4 MB the server does it; a larger file is cut here.",
    )
    parser.add_argument("file", type=Path, help="the chat, as JSON or JSON lines")
    parser.add_argument("--gap-mode", choices=("hard", "soft"), help="whether a pause is a rule or evidence")
    add_server(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Cuts a file and prints the blocks."""
    try:
        data = arguments.file.read_bytes()
    except OSError as error:
        raise CommandError(f"{arguments.file} cannot be read: {error.strerror}.") from error
    request = request_of(data, session_id=arguments.file.stem)
    if arguments.gap_mode:
        request["options"] = {**request["options"], "timeGapMode": arguments.gap_mode}
    if len(data) > REQUEST_BYTES:
        result = _here(request)
    else:
        client = ApiClient(arguments.url or base_url(arguments.data), arguments.user, arguments.data)
        result = client.request("POST", "/v1/session-blocks:build", request)
    if arguments.json:
        print(json.dumps(result, ensure_ascii=False))
        return
    in_colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    print(render(result, request["messages"], in_colour=in_colour))


def request_of(data: bytes, *, session_id: str) -> dict[str, Any]:
    """The batch request that a file holds.

    Args:
        data: A batch request, an array of messages, or one message a line.
        session_id: Names the session where the file does not.

    Raises:
        CommandError: It is none of these.
    """
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    try:
        if value is None:
            value = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise CommandError("The file is neither JSON nor JSON lines.") from error
    if isinstance(value, dict) and "messages" not in value:
        value = [value]
    request: dict[str, Any] = {"messages": value} if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType]
    base: dict[str, Any] = {"sessionId": session_id, "analysisMode": "FULL", "existingBlocks": [], "options": {}}
    return {**base, **request}


def render(result: dict[str, Any], messages: list[dict[str, Any]], *, in_colour: bool) -> str:
    """The blocks as a person reads them: a heading with the tags, then the messages, a colour to a block."""
    by_id = {str(message["messageId"]).strip(): message for message in messages}
    lines: list[str] = []
    for number, block in enumerate(result["blocks"]):
        colour = _COLOURS[number % len(_COLOURS)]
        confidence = "" if block["confidence"] is None else f"  confidence {block['confidence']:.2f}"
        lines.append(_paint(f"━━ {block['blockId']}{confidence}", colour, in_colour=in_colour, bold=True))
        for tag in _TAGS:
            told: Any = block["tags"][tag]
            texts: list[str] = [told] if isinstance(told, str) else list(told)
            lines += [
                _paint(f"   {tag.lower():9}{_shortened(text)}", colour, in_colour=in_colour, bold=True)
                for text in texts
                if text
            ]
        for message_id in block["messageIds"]:
            message = by_id.get(message_id)
            if message is None:
                lines.append(_paint(f"┃ {message_id} (not sent)", colour, in_colour=in_colour))
                continue
            who = message.get("speaker") or message["role"]
            when = str(message["timestamp"])[:16].replace("T", " ")
            lines.append(
                _paint("┃ ", colour, in_colour=in_colour) + f"{when} {who}: {_shortened(str(message['content']))}"
            )
        lines.append("")
    stats = result["stats"]
    lines.append(f"{stats['numMessages']} messages in {stats['numBlocks']} blocks, by {result['model']}")
    return "\n".join(lines)


def _paint(text: str, colour: int, *, in_colour: bool, bold: bool = False) -> str:
    return f"\x1b[{'1;' if bold else ''}{colour}m{text}\x1b[0m" if in_colour else text


def _shortened(text: str) -> str:
    """A text on one line; control characters must not reach the terminal."""
    clean = "".join(letter if letter.isprintable() else " " for letter in text[: 4 * _TEXT_CHARS])
    flat = " ".join(clean.split())
    return flat if len(flat) <= _TEXT_CHARS else f"{flat[: _TEXT_CHARS - 1]}…"


def _here(request: dict[str, Any]) -> dict[str, Any]:
    from satchel.api.validation import validate  # noqa: PLC0415 - only for a large file
    from satchel.api.wire.blocks import BuildRequest  # noqa: PLC0415
    from satchel.api.wire.built_blocks import BuildResponse  # noqa: PLC0415
    from satchel.blocks.building import build_session_blocks  # noqa: PLC0415
    from satchel.blocks.continuity import shipped_model  # noqa: PLC0415
    from satchel.errors import InvalidInputError  # noqa: PLC0415

    try:
        read = validate(BuildRequest, request)
        result = build_session_blocks(read.to_session(), read.options.to_options(), continuity=shipped_model())
    except InvalidInputError as error:
        raise CommandError(f"{error.message}.") from error
    return BuildResponse.of(result).model_dump(mode="json")
