"""`satchel filter`: cut a file with a tool's answer to what a question needs."""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from satchel.cli.api_client import ApiClient
from satchel.cli.errors import CommandError
from satchel.cli.options import add_server, base_url
from satchel.errors import InvalidInputError

if TYPE_CHECKING:
    from satchel.cli.options import Commands

# Below what one request may carry; larger files are filtered here, in one pass and bounded memory.
REQUEST_BYTES = 4 * 1024 * 1024
_BLOCK_BYTES = 256 * 1024
_BAR_CHARS = 30


def add_commands(commands: "Commands") -> None:
    """Adds `filter`."""
    parser = commands.add_parser(
        "filter",
        help="cut a tool's answer to what matters",
        description="Cut a file (JSON, NDJSON or text) to what a question needs, secrets redacted. Up to 4 MB the "
        "server does it and keeps what was cut; a larger array is filtered here as it is read, in bounded memory.",
    )
    parser.add_argument("file", type=Path, help="the answer of a tool")
    parser.add_argument("--question", required=True, help="what it should answer")
    parser.add_argument("--tool", default="file", help="the tool that answered, which tunes the filter")
    parser.add_argument("--limit", type=int, help="most items to keep (default: what the question says, else 10)")
    parser.add_argument("--path", default="", help="where the array is in a large object, such as data.messages")
    add_server(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Filters a file and prints what is left."""
    try:
        size = arguments.file.stat().st_size
        result = _by_server(arguments) if size <= REQUEST_BYTES else asyncio.run(_here(arguments, size))
    except OSError as error:
        raise CommandError(f"{arguments.file} cannot be read: {error.strerror}.") from error
    except InvalidInputError as error:
        raise CommandError(f"{arguments.file}: {error.message}.") from error
    if arguments.json:
        print(json.dumps(result, ensure_ascii=False))
        return
    data = result["data"]
    print(data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, indent=2))
    metadata = result["metadata"]
    kept, total = metadata["filteredItemCount"], metadata["originalItemCount"]
    cut = f"; what was cut: {result['handle']}" if result["handle"] else ""
    print(f"kept {kept} of {total}, {result['reduction']:.1%} less{cut}", file=sys.stderr)


def _by_server(arguments: argparse.Namespace) -> dict[str, Any]:
    given = {"query": arguments.question, **({"limit": arguments.limit} if arguments.limit else {})}
    body = {
        "tool": {"name": arguments.tool},
        "arguments": given,
        "question": arguments.question,
        "response": _value(arguments.file.read_bytes()),
    }
    client = ApiClient(arguments.url or base_url(arguments.data), arguments.user, arguments.data)
    return client.request("POST", "/v1/responses:filter", body)


def _value(data: bytes) -> Any:
    """What a file holds: JSON, else JSON lines, else text."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and lines[0].lstrip()[:1] == "{":
        try:
            return [json.loads(line) for line in lines]
        except (ValueError, RecursionError):
            return text
    return text


async def _here(arguments: argparse.Namespace, size: int) -> dict[str, Any]:
    from satchel.api.wire.filtering import FilterResult  # noqa: PLC0415 - only for a large file
    from satchel.filtering import json_stream  # noqa: PLC0415
    from satchel.filtering.answering import Answered  # noqa: PLC0415
    from satchel.filtering.engine import FilterEngine  # noqa: PLC0415
    from satchel.filtering.intent import analyze_intent  # noqa: PLC0415
    from satchel.filtering.sanitiser.sanitiser import Sanitiser  # noqa: PLC0415
    from satchel.filtering.streamed_response import filter_stream  # noqa: PLC0415
    from satchel.filtering.streaming import StreamingFilter  # noqa: PLC0415
    from satchel.filtering.tool_profiles import default_profiles  # noqa: PLC0415

    profile = default_profiles().of_tool(arguments.tool)
    given = {"limit": arguments.limit} if arguments.limit else {}
    intent = analyze_intent(arguments.tool, given, arguments.question, profile=profile)
    stream = StreamingFilter(intent, profile)
    chunks = json_stream.items(_blocks(arguments.file, _progress(size, stream)), path=arguments.path)
    engine = FilterEngine(profile, Sanitiser(), perf_counter)
    result, _ = await filter_stream(stream, chunks, engine=engine, tool_name=arguments.tool, size=size)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    answered = Answered(result, intent, None, result.notice, 0.0)
    return FilterResult.of(answered).model_dump(mode="json", by_alias=True)


async def _blocks(file: Path, progress: Callable[[int], None]) -> AsyncIterator[bytes]:
    read = 0
    with file.open("rb") as source:
        while block := source.read(_BLOCK_BYTES):
            yield block
            read += len(block)
            progress(read)


def _progress(size: int, stream: Any) -> Callable[[int], None]:
    """Draws a bar on a terminal; elsewhere nothing."""
    if not sys.stderr.isatty():
        return lambda _read: None

    def draw(read: int) -> None:
        filled = _BAR_CHARS * read // size
        bar = "#" * filled + "." * (_BAR_CHARS - filled)
        print(f"\r[{bar}] {read / size:4.0%} {stream.state.processed:,} items", end="", file=sys.stderr, flush=True)

    return draw
