"""`make demo`: the main job, without a person."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_demo_reads_the_context_back_and_finds_what_was_said():
    run = subprocess.run(
        [sys.executable, "demo/run.py"], capture_output=True, text=True, timeout=280, cwd=ROOT, check=False
    )
    assert run.returncode == 0, run.stderr
    headings = [line for line in run.stdout.splitlines() if line.startswith("== ")]
    assert headings == [
        "== context://user-profile",
        "== context://conversation-summary",
        "== context://workspace-state",
        "== context://system-prompt",
        "== search: Where do I put my stop loss?",
        "== search: 리플 왜 팔았지?",
    ]
    assert run.stdout.endswith("\ndemo ok\n")
