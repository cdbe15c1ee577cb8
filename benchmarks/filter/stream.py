"""How fast and in how much memory the filter cuts a stream, beside the parser alone in the same run.

    python benchmarks/filter/stream.py [--items 100000] [--json]

Messages of a team are written to a file (about 130 bytes each, two thirds with a word of the question) and read back in
pieces as an array and as NDJSON, by the parser alone and then filtered to 20. CPU is the best of three; memory is the
growth of the process's peak over what it was once all was loaded. The last line is one JSON object.
"""

import argparse
import asyncio
import json
import random
import resource
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

from satchel.filtering import json_stream
from satchel.filtering.intent import analyze_intent
from satchel.filtering.streaming import StreamingFilter
from satchel.filtering.tool_profiles import default_profiles

BLOCK_BYTES = 256 * 1024
QUESTION = "Get the top 20 messages about a security patch for the gateway"
TOPICS = (
    "the gateway needs a security patch before the release",
    "lunch is ready in the kitchen on the second floor",
    "a patch for the billing page went out this morning",
    "who has the key card of the small meeting room",
    "the gateway answered slowly during the night shift",
    "security asked for a list of everybody with access",
)


def write(path: Path, items: int, *, is_array: bool) -> None:
    """Write a file of messages."""
    chance = random.Random(7)
    with path.open("w", encoding="utf-8") as file:
        for number in range(items):
            row = {"id": number, "user": f"U{number % 97}", "ts": 1_700_000_000 + number, "text": chance.choice(TOPICS)}
            start = "[" if number == 0 and is_array else ",\n" if is_array else ""
            file.write(start + json.dumps(row) + ("" if is_array else "\n"))
        file.write("]" if is_array else "")


async def blocks(path: Path) -> AsyncIterator[bytes]:
    """The file in pieces."""
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            yield block


async def parse(path: Path) -> int:
    """Read all items and keep none."""
    return sum([len(chunk) async for chunk in json_stream.items(blocks(path))])


async def cut(path: Path) -> int:
    """Filter all items; how many were kept."""
    profile = default_profiles().of_tool("slack_search_messages")
    stream = StreamingFilter(analyze_intent("slack_search_messages", {}, QUESTION, profile=profile), profile)
    kept = 0
    async for result in stream.create_filter_stream(json_stream.items(blocks(path))):
        kept = len(result.chunk)
    return kept


def cpu_s(work: Callable[[Path], Coroutine[Any, Any, int]], path: Path) -> float:
    """Seconds of CPU, the best of three."""
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        asyncio.run(work(path))
        best = min(best, time.process_time() - started)
    return best


def peak_mb() -> float:
    """The process's peak so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--json", action="store_true", help="print only the JSON object")
    arguments = parser.parse_args()
    result: dict[str, Any] = {"items": arguments.items}
    with tempfile.TemporaryDirectory() as folder:
        for form in ("array", "ndjson"):
            small, path = Path(folder) / "small", Path(folder) / form
            write(small, 100, is_array=form == "array")
            write(path, arguments.items, is_array=form == "array")
            asyncio.run(cut(small))  # imports, compiled expressions
            before = peak_mb()
            filtered = cpu_s(cut, path)
            growth = peak_mb() - before
            alone = cpu_s(parse, path)
            result[form] = {
                "mb": round(path.stat().st_size / 1e6, 1),
                "cpu_s": round(filtered, 3),
                "parser_alone_s": round(alone, 3),
                "times_the_parser": round(filtered / alone, 2),
                "memory_growth_mb": round(growth, 1),
            }
            if not arguments.json:
                print(f"{form}: {result[form]}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
