"""Sessions with labelled topic boundaries: reading them, and the ways they are shown to the learner."""

import json
import math
import random
import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from satchel.blocks.features import Turn
from satchel.blocks.scoring import hard_gap_s

Row = dict[str, Any]
# Weights may be learned from these. SuperDialseg is derived from doc2dial (CC BY 3.0). DialSeg711 has no licence.
LICENCES = ("MIT", "CC BY 4.0", "own")
DERIVED_FROM_CC_BY = ("superseg",)
GROUP_CHATS = ("gitter_nat", "gitter_join", "irc_join")
_HARD_GAP_S = 600
_ROLE_NAMES = ("user", "agent", "system", "assistant")


def read_rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def own_rows() -> list[Row]:
    """The sessions written for this project, in `own_sessions.txt`."""
    text = Path(__file__).with_name("own_sessions.txt").read_text(encoding="utf-8")
    sessions: list[list[str]] = [[]]
    for line in text.splitlines():
        if line == "===":
            sessions.append([])
        elif not line.startswith("#"):
            sessions[-1].append(line)
    return [_own_row(number, lines) for number, lines in enumerate(sessions)]


def _own_row(number: int, lines: Sequence[str]) -> Row:
    messages: list[Any] = []
    boundaries: list[int] = []
    for line in lines:
        if line:
            role = "user" if line.startswith("U ") else "assistant"
            messages.append([None, "", role, line[2:]])
        elif messages:
            boundaries.append(len(messages))
    lang = "ko" if _is_korean(messages) else "en"
    row = _made("made_own", number, lang, messages, boundaries)
    return {**row, "licence": "own"}


def own_topics() -> Iterator[list[Any]]:
    """The topics written for this project, in `own_topics.txt`, as messages."""
    text = Path(__file__).with_name("own_topics.txt").read_text(encoding="utf-8")
    for paragraph in text.split("\n\n"):
        lines = [line for line in paragraph.splitlines() if not line.startswith("#")]
        yield [[None, "", "user" if line.startswith("U ") else "assistant", line[2:]] for line in lines]


def may_learn_from(row: Row) -> bool:
    return row["licence"] in LICENCES or row["corpus"] in DERIVED_FROM_CC_BY


def fold_of(row: Row, folds: int) -> int:
    return zlib.crc32(row["id"].encode()) % folds


def labels_of(row: Row) -> list[int]:
    boundaries = set(row["boundaries"])
    return [int(index in boundaries) for index in range(len(row["msgs"]))]


def variants_of(row: Row) -> Sequence[str]:
    """How a session is shown to the learner, as letters.

    S without speakers, T without times, H pauses as hard mode sees them; C a constant pause and R random pauses, for
    sessions that came without times.
    """
    if row["corpus"] in GROUP_CHATS:
        return ("", "", "S", "H", "HS", "T")
    if row["msgs"][0][0] is not None:
        return ("", "S", "H", "T")
    return ("", "C", "R") if row["corpus"].startswith("made_") else ("", "S", "C", "CS", "R")


def turns_of(row: Row, variant: str = "") -> list[Turn]:
    """The session as the features read it, in one of the variants."""
    chance = random.Random(row["id"] + variant)
    constant = chance.choice((1, 5, 20, 60, 60, 120))
    turns = []
    before = None
    for at, speaker, role, text in row["msgs"]:
        first = not turns
        gap_s = None if first or at is None or before is None else at - before
        if first or "T" in variant:
            gap_s = None
        elif "H" in variant:
            gap_s = None if gap_s is None else hard_gap_s(gap_s, _HARD_GAP_S)
        elif "C" in variant:
            gap_s = constant
        elif "R" in variant:
            gap_s = int(10 * math.exp(chance.gauss(1, 1)))
        named = speaker or ""
        if "S" in variant or (role and named in _ROLE_NAMES):
            named = ""
        turns.append(Turn(text, role or "user", named, gap_s))
        before = at
    return turns


def is_judged_by_gap(row: Row, index: int, variant: str) -> bool:
    """Whether hard mode's rule decides this message, so that the score need not learn it."""
    messages = row["msgs"]
    return "H" in variant and index > 0 and messages[index][0] - messages[index - 1][0] > _HARD_GAP_S


def made_rows(rows: Sequence[Row], each: int) -> Iterator[Row]:
    """Sessions made by laying parts of different sessions end to end.

    Korean: parts between boundaries. SuperDialseg: whole openings, with the boundaries that people drew inside.
    """
    korean = [row for row in rows if row["corpus"] in ("ko_manual", "ko_join")]
    joined = [row for row in korean if row["corpus"] == "ko_join"]
    opened = [row for row in rows if row["corpus"] == "superseg"]
    if korean:
        yield from _joined_parts(korean, "made_ko", each)
        yield from _joined_parts(korean, "made_ko_short", each, longest=4)
    if joined:
        yield from _joined_parts(joined, "made_ko_join", each)
    if opened:
        yield from _joined_openings(opened, "made_superseg", each)
    topics = list(own_topics())
    yield from _joined_topics([topic for topic in topics if _is_korean(topic)], "made_topics_ko", "ko", each)
    yield from _joined_topics([topic for topic in topics if not _is_korean(topic)], "made_topics_en", "en", each)


def _is_korean(messages: list[Any]) -> bool:
    return any("\uac00" <= letter <= "\ud7a3" for letter in messages[0][3])


def _joined_topics(topics: Sequence[list[Any]], name: str, lang: str, count: int) -> Iterator[Row]:
    """Some topics end to end, each from its beginning and most of them whole."""
    chance = random.Random(name)
    for number in range(count):
        messages: list[Any] = []
        boundaries: list[int] = []
        for topic in chance.sample(topics, chance.randint(3, 6)):
            boundaries += [len(messages)] if messages else []
            messages += topic if chance.random() < 0.7 else topic[:2]
        yield _made(name, number, lang, messages, boundaries)


def _joined_parts(rows: Sequence[Row], name: str, count: int, *, longest: int = 12) -> Iterator[Row]:
    chance = random.Random(name)
    parts = []
    for row in rows:
        edges = [0, *row["boundaries"], len(row["msgs"])]
        parts += [row["msgs"][start:end] for start, end in pairwise(edges) if end - start > 1]
    for number in range(count):
        messages: list[Any] = []
        boundaries: list[int] = []
        for part in chance.sample(parts, chance.randint(3, 5)):
            boundaries += [len(messages)] if messages else []
            kept = part[: chance.randint(2, longest)] if chance.random() < 0.8 else part[:longest]
            messages += [[None, *message[1:]] for message in kept]
        yield _made(name, number, rows[0]["lang"], messages, boundaries)


def _joined_openings(rows: Sequence[Row], name: str, count: int) -> Iterator[Row]:
    chance = random.Random(name)
    for number in range(count):
        messages: list[Any] = []
        boundaries: list[int] = []
        for row in chance.sample(list(rows), chance.randint(3, 5)):
            edges = [*row["boundaries"], len(row["msgs"])]
            cut = edges[min(chance.choice((0, 0, 1, 2)), len(edges) - 1)]
            offset = len(messages)
            boundaries += [offset] if offset else []
            boundaries += [offset + index for index in row["boundaries"] if index < cut]
            messages += row["msgs"][:cut]
        yield _made(name, number, rows[0]["lang"], messages, boundaries)


def _made(name: str, number: int, lang: str, messages: list[Any], boundaries: list[int]) -> Row:
    return {"id": f"{name}_{number}", "corpus": name, "lang": lang, "msgs": messages, "boundaries": boundaries}
