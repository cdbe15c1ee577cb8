"""Measures the blocks that the endpoint's own code builds, against labelled topic boundaries.

    python benchmarks/blocks/run.py FILE.jsonl [--gap-mode soft|hard] [--without-speakers] [--json]

Each line is a session: `msgs` of [epoch seconds or null, speaker or null, role or null, text] and `boundaries`, the
indices that open a block. Roles are put where they miss, times are not. No model is asked: the zone falls to
the midpoint. The last line is one JSON object.
"""

import argparse
import json
import time
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from metrics import fit_of

from satchel.blocks.building import build_session_blocks
from satchel.blocks.continuity import shipped_model
from satchel.blocks.sessions import Message, Options, Session

_OPTIONS = Options(explain=True)


def session_of(row: dict[str, Any], *, without_speakers: bool) -> Session:
    messages = [
        Message(
            f"m{index:06}",
            role or "user",
            text.strip(),
            None if at is None else datetime.fromtimestamp(at, UTC),
            "" if without_speakers else speaker or "",
        )
        for index, (at, speaker, role, text) in enumerate(row["msgs"])
    ]
    return Session(row["id"], "FULL", messages)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--gap-mode", choices=("soft", "hard"), default="soft")
    parser.add_argument("--without-speakers", action="store_true")
    parser.add_argument("--json", action="store_true", help="print the last line alone")
    arguments = parser.parse_args()
    options = replace(_OPTIONS, gap_mode=arguments.gap_mode)
    continuity = shipped_model()
    pairs: dict[str, list[Any]] = defaultdict(list)
    in_zone: dict[str, int] = defaultdict(int)
    decided: dict[str, int] = defaultdict(int)
    spent = 0.0
    messages = 0
    for line in arguments.data.read_text(encoding="utf-8").splitlines():
        if not line.strip():
            continue
        row = json.loads(line)
        session = session_of(row, without_speakers=arguments.without_speakers)
        started = time.process_time()
        result = build_session_blocks(session, options, continuity=continuity)
        spent += time.process_time() - started
        messages += len(session.messages)
        opened = {block.message_ids[0] for block in result.blocks}
        boundaries = set(row["boundaries"])
        corpus = row["corpus"]
        pairs[corpus].append(
            (
                [int(index in boundaries) for index in range(len(session.messages))],
                [int(message.message_id in opened) for message in session.messages],
            )
        )
        in_zone[corpus] += sum(each.rule == "midpoint" for each in result.explanations or ())
        decided[corpus] += len(session.messages) - 1
    corpora = {
        corpus: {
            **{name: round(value, 4) for name, value in fit_of(each)._asdict().items()},
            "zone_share": round(in_zone[corpus] / max(1, decided[corpus]), 4),
        }
        for corpus, each in pairs.items()
    }
    summary = {
        "mean_f1": round(sum(each["f1"] for each in corpora.values()) / len(corpora), 4),
        "mean_pk": round(sum(each["pk"] for each in corpora.values()) / len(corpora), 4),
        "corpora": corpora,
        "messages_per_s": round(messages / spent),
    }
    if not arguments.json:
        print(f"{'corpus':16}{'F1':>8}{'Pk':>8}{'WD':>8}{'zone':>8}")
        for corpus, each in corpora.items():
            print(f"{corpus:16}{each['f1']:8.3f}{each['pk']:8.3f}{each['wd']:8.3f}{each['zone_share']:8.1%}")
        print(f"{'mean':16}{summary['mean_f1']:8.3f}{summary['mean_pk']:8.3f}")
    print(json.dumps(summary, ensure_ascii=False))


if __name__ == "__main__":
    main()
