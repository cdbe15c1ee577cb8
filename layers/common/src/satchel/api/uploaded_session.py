"""A session as a file: messages one JSON object a line, read in order of time however long it is, and the answer."""

import heapq
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from tempfile import TemporaryFile
from typing import BinaryIO, cast

from satchel.api.json_text import compact_json
from satchel.api.strict_json import parse_json
from satchel.api.validation import validate
from satchel.api.wire.blocks import MessageIn
from satchel.api.wire.built_blocks import BlockOut, BuildStats
from satchel.blocks.sessions import ANALYSIS_VERSION, Message, in_order
from satchel.blocks.streaming import StreamedBuild
from satchel.errors import InvalidInputError, TooLargeError
from satchel.timestamps import format_timestamp, parse_iso_timestamp

MAX_BYTES = 256 * 1024 * 1024
MAX_MESSAGES = 1_000_000
_MAX_LINE_BYTES = 1024 * 1024
# So many messages are sorted in memory; more are sorted in runs that wait on disk.
_RUN = 20_000
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_session(content: BinaryIO) -> Iterator[Message]:
    """The messages of `content` in the document's order.

    Raises:
        InvalidInputError: A line is no message, an id stands twice, or there is none; `field` is its place, counted
            from 0 without empty lines (`messages[3].role`).
        TooLargeError: A line is longer than 1 MiB, or there are more than a million.
    """
    messages = _read(content)
    runs: list[Iterator[Message]] = []
    while run := in_order(list(islice(messages, _RUN))):
        if len(run) < _RUN and not runs:
            return iter(run)
        runs.append(_spilled(run))
    if not runs:
        raise InvalidInputError("there is no message in what was uploaded", field="messages")
    return heapq.merge(*runs, key=lambda message: (message.at, message.message_id))


def write_response(
    build: StreamedBuild, session_id: str, messages: Iterable[Message], target: BinaryIO
) -> dict[str, int]:
    """Write the batch response for `messages` to `target`, a block at a time, and return its `stats`.

    Args:
        build: What builds the blocks.
        session_id: The session.
        messages: In the document's order.
        target: Gets one JSON object.
    """
    blocks = 0
    with TemporaryFile() as homes:
        for block in build.blocks(messages):
            target.write(b"," if blocks else b'{"blocks":[')
            target.write(BlockOut.of(block).model_dump_json().encode())
            for message_id in block.message_ids:
                homes.write(b"," if homes.tell() else b'],"messageToBlock":{')
                homes.write(f"{compact_json(message_id)}:{compact_json(block.block_id)}".encode())
            blocks += 1
        homes.seek(0)
        while part := homes.read(_MAX_LINE_BYTES):
            target.write(part)
    stats = BuildStats(
        numMessages=build.messages,
        numBlocks=blocks,
        llmCalls_shift=build.shift_calls,
        llmCalls_summarize=build.summary_calls,
    )
    rest = {"sessionId": session_id, "analysis_version": ANALYSIS_VERSION, "model": build.model}
    told = stats.model_dump()
    target.write(f"}},{compact_json({**rest, 'stats': told})[1:]}".encode())
    return told


def _read(content: BinaryIO) -> Iterator[Message]:
    seen: set[str] = set()
    first = True
    while line := content.readline(_MAX_LINE_BYTES + 1):
        place = f"messages[{len(seen)}]"
        if len(line) > _MAX_LINE_BYTES:
            raise TooLargeError("a line can be no longer than 1 MiB", field=place)
        line = line.removeprefix(_BYTE_ORDER_MARK).strip() if first else line.strip()
        first = False
        if not line:
            continue
        if len(seen) == MAX_MESSAGES:
            raise TooLargeError(f"at most {MAX_MESSAGES} messages can be uploaded", field=place)
        message = _message(line, place)
        if message.message_id in seen:
            raise InvalidInputError("the id stands above already", field=f"{place}.messageId")
        seen.add(message.message_id)
        yield message


def _message(line: bytes, place: str) -> Message:
    try:
        return validate(MessageIn, parse_json(line)).to_message()
    except InvalidInputError as error:
        field = f"{place}.{error.field}" if error.field else place
        raise InvalidInputError(error.message, field=field) from error


def _spilled(run: Sequence[Message]) -> Iterator[Message]:
    """`run`, waiting on disk; the file goes with its last message."""
    file = TemporaryFile()  # noqa: SIM115 - outlives this call
    for message_id, role, content, at, speaker in run:
        assert at is not None, "the wire demands a time"
        file.write(f"{compact_json([message_id, role, content, format_timestamp(at), speaker])}\n".encode())
    file.seek(0)
    return _restored(cast("BinaryIO", file))


def _restored(file: BinaryIO) -> Iterator[Message]:
    with file:
        for line in file:
            message_id, role, content, at, speaker = json.loads(line)
            yield Message(message_id, role, content, parse_iso_timestamp(at), speaker)
