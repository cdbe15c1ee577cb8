"""Measures the agent gateway: its own time in a turn beside the time it waits, and its round trips over MCP.

    python benchmarks/gateway/run.py [--turns 20] [--model-s 1.0] [--json]

Serves the whole stack with a scripted model that takes `--model-s` for each answer, and talks to it as one user, one
turn after the other. A turn's time is what Lambda's report says of `agent_gateway`. What the gateway waits for is the
union of the times in which the MCP adapter or the model worked for it; the rest of a turn is its own: its own CPU, the
local HTTP between them, and its rows in the store.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from satchel.local.fake_claude.script import Reply, calls, says
from tests.support.chat_stack import ChatStack, chat_stack

WARM_UP = 8
Interval = tuple[float, float]


def covered(intervals: Iterable[Interval]) -> float:
    """Seconds that at least one of the intervals covers."""
    total, reached = 0.0, 0.0
    for start, end in sorted(intervals):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


def batches(intervals: Iterable[Interval]) -> int:
    """Groups of intervals that overlap: what runs side by side is one batch."""
    count, reached = 0, 0.0
    for start, end in sorted(intervals):
        count += start > reached
        reached = max(reached, end)
    return count


class SlowModel:
    """Answers after a while, calls a tool where it is told to, and notes when it worked."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.worked: list[Interval] = []

    def __call__(self, body: Any) -> Reply:
        """An answer, or a call of a tool."""
        now = time.time()
        self.worked.append((now, now + self.seconds))
        last = body["messages"][-1]["content"]
        if "with tool" in last[-1].get("text", ""):
            call = (f"tu_{len(body['messages'])}", "search_conversation", {"query": "stop loss"})
            return Reply(calls(call).content, "tool_use", delay_s=self.seconds)
        return says("An answer of a few words.", delay_s=self.seconds)


def reports(log: Path) -> list[tuple[str, Interval]]:
    """Every invocation in the stack's log: function, and when it ran."""
    found: list[tuple[str, Interval]] = []
    for line in log.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line) if line.startswith("{") else {}  # progress is told in plain lines
        if entry.get("type") == "report":
            end = datetime.fromisoformat(entry["time"]).timestamp()
            found.append((entry["function"], (end - entry["duration_ms"] / 1000, end)))
    return found


def measure(stack: ChatStack, model: SlowModel, log: Path, word: str, turns: int) -> dict[str, Any]:
    """Medians over turns of one kind."""
    begun = time.time()
    shares: list[float] = []
    for number in range(turns):
        answer = stack.chat(f"{word} {number}", session_id=f"{word}-{number % 3}", user="bench").json()
        shares.append(answer["usage"]["cache_read_share"])
    time.sleep(0.3)  # the last report is written after its answer
    listed = [(name, span) for name, span in reports(log) if span[0] >= begun - 0.05]
    own: list[float] = []
    whole: list[float] = []
    trips: list[int] = []
    groups: list[int] = []
    for start, end in [span for name, span in listed if name == "satchel-agent_gateway"]:
        mcp = [s for name, s in listed if name == "satchel-mcp_adapter" and start - 0.005 <= s[0] < end]
        asked = [s for s in model.worked if start <= s[0] < end]
        whole.append(end - start)
        own.append(end - start - covered([*mcp, *asked]))
        trips.append(len(mcp))
        groups.append(batches(mcp))
    return {
        "turns": len(whole),
        "turn_ms": round(statistics.median(whole) * 1000, 1),
        "own_ms": round(statistics.median(own) * 1000, 1),
        "own_share": round(statistics.median(o / w for o, w in zip(own, whole, strict=True)), 4),
        "mcp_round_trips": statistics.median(trips),
        "mcp_batches": statistics.median(groups),
        "cache_read_share": round(statistics.median(shares), 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--model-s", type=float, default=1.0)
    parser.add_argument("--json", action="store_true", help="only the JSON line")
    arguments = parser.parse_args()
    model = SlowModel(0.0)
    with tempfile.TemporaryDirectory(prefix="satchel-bench-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        with chat_stack(folder) as stack:
            stack.scripts.by_word[""] = model
            for number in range(WARM_UP):
                stack.chat(f"warm {number} with tool", user="bench")
            model.seconds = arguments.model_s
            result = {
                "model_s": arguments.model_s,
                "plain": measure(stack, model, folder / "log.jsonl", "plain", arguments.turns),
                "one_tool": measure(stack, model, folder / "log.jsonl", "asked with tool", arguments.turns),
            }
    if not arguments.json:
        print(f"{'':<10}{'turn ms':>10}{'own ms':>9}{'own %':>8}{'round trips':>13}{'batches':>9}{'cached %':>10}")
        for kind in ("plain", "one_tool"):
            row = result[kind]
            print(
                f"{kind:<10}{row['turn_ms']:>10}{row['own_ms']:>9}{100 * row['own_share']:>8.1f}"
                f"{row['mcp_round_trips']:>13}{row['mcp_batches']:>9}{100 * row['cache_read_share']:>10.1f}"
            )
    print(json.dumps(result))


if __name__ == "__main__":
    main()
