"""Long text cut to what matters: logs to templates, code to signatures and matching parts, documents to passages.

Pure; a language model that writes better summaries is handed in elsewhere. What is left out is marked where it was.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from satchel.filtering import lexical, terms
from satchel.filtering.intent import Intent
from satchel.filtering.log_templates import is_log_line, templates
from satchel.filtering.tool_profiles import ToolProfile

Kind = Literal["log", "code", "document"]

_SAMPLE_LINES = 200
_LOG_SHARE = 0.4
_CODE_SHARE = 0.25
KEPT_SHARE = 0.2
MIN_KEPT_CHARS = 1_000
PASSAGE_CHARS = 600
MATCHING_LOG_LINES = 20
_LINE_CHARS = 300
_SIGNATURE = re.compile(
    r"^\s*(?:(?:export|public|private|protected|static|async|abstract|final|override|pub|default)\s+)*"
    r"(?:def|class|function|func|fn|interface|struct|enum|trait|impl|type|module|namespace|package|import|from|use"
    r"|CREATE|create)\b|^\s*@\w|^\s*(?:const|let|var)\s+\w+\s*=\s*(?:async\s*)?(?:\(|function)"
    r"|^(?:[A-Za-z_][\w<>\[\],:*&]*\s+){1,4}[A-Za-z_]\w*\([^;]{0,200}$"
)
_CODE_LINE = re.compile(
    r"[;{}]\s*$|^\s*(?:def|class|import|from|return|raise|elif|else|function|const|let|var|fn|func)\b"
    r"|^\s*(?:if|for|while|with|try)\b.*[:{(]\s*$|^\s*[\w.]+(?:: [\w\[\], .|]+)? = \S|^\s*[\w.]+\(.*\)\s*$"
)
_HEADING = re.compile(r"^(?:#{1,6}\s+\S|\d+(?:\.\d+){0,4}\.?\s+[A-Z]\S|[A-Z][A-Z0-9 ,:&/-]{3,80}$|={3,}\s*$|-{3,}\s*$)")
_FACT = re.compile(r"\d|\b[A-Z][a-z]+ [A-Z][a-z]+")


@dataclass(frozen=True, slots=True)
class Summary:
    """A text cut short.

    Attributes:
        text: What is left.
        kind: What the text was taken for.
        total: Units of the text: lines of logs and code, passages of documents.
        removed: Units that were left out, with their scores, in the text's order.
    """

    text: str
    kind: Kind
    total: int
    removed: list[tuple[str, float]]


def kind_of(text: str) -> Kind:
    """What a text is, judged by its first 200 lines that are not blank."""
    lines = [line for line in text[:100_000].splitlines() if line.strip()][:_SAMPLE_LINES]
    if len(lines) < len(("one", "two", "three")):
        return "document"
    if sum(is_log_line(line) for line in lines) >= _LOG_SHARE * len(lines):
        return "log"
    if sum(_CODE_LINE.search(line[:_LINE_CHARS]) is not None for line in lines) >= _CODE_SHARE * len(lines):
        return "code"
    return "document"


def summarise(text: str, intent: Intent, profile: ToolProfile, *, max_chars: int | None = None) -> Summary:
    """Cuts `text` to about a fifth, or to `max_chars`.

    Deterministic. Logs give one line per template, worst severity first, then matching lines; code its signatures and
    the parts around matches; documents their headings and best passages, in order, facts (numbers, names) preferred.
    """
    kind = kind_of(text)
    budget = max_chars or max(MIN_KEPT_CHARS, min(int(len(text) * KEPT_SHARE), profile.text_threshold_chars))
    units = _passages(text) if kind == "document" else text.splitlines()
    scores = _scores(units, intent, profile)
    if kind == "log":
        return _log(units, scores, budget)
    chosen = (_code if kind == "code" else _document)(units, scores, budget)
    removed = [(unit, scores[i]) for i, unit in enumerate(units) if i not in chosen]
    joiner = "\n" if kind == "code" else "\n\n"
    noun = "lines" if kind == "code" else "passages"
    return Summary(_with_gaps(units, chosen, joiner, noun), kind, len(units), removed)


def _scores(units: Sequence[str], intent: Intent, profile: ToolProfile) -> list[float]:
    wanted = terms.of_intent(intent.keywords, intent.intent, profile.keyword_weights, profile.generic_words)
    laid = lexical.corpus(units, lambda _name: 1.0)
    return lexical.bm25(laid, wanted, lexical.scan(laid, wanted, terms.phrases(intent.keywords)))


def _passages(text: str) -> list[str]:
    found: list[str] = []
    for block in re.split(r"\n[ \t]*\n", text):
        piece, at = block.strip("\n"), 0
        while len(piece) - at > PASSAGE_CHARS:
            middle, most = at + PASSAGE_CHARS // 2, at + PASSAGE_CHARS
            cut = max(piece.rfind(end, middle, most) for end in (". ", "\n", "。", " "))
            cut = cut + 1 if cut > 0 else most
            found.append(piece[at:cut].strip())
            at = cut
        if piece[at:].strip():
            found.append(piece[at:].strip())
    return found


def _log(lines: list[str], scores: list[float], budget: int) -> Summary:
    filled = [(line, score) for line, score in zip(lines, scores, strict=True) if line.strip()]
    grouped = templates([line for line, _ in filled])
    ordered = sorted(range(len(grouped)), key=lambda i: (grouped[i].severity, -grouped[i].count, i))
    matching = sorted((i for i in range(len(filled)) if filled[i][1] > 0), key=lambda i: (-filled[i][1], i))
    best = sorted(matching[:MATCHING_LOG_LINES])
    parts: list[str] = [f"{len(filled)} lines, {len(grouped)} templates"]
    used, shown = len(parts[0]), 0
    for i in ordered:
        template = grouped[i]
        line = f"{template.count}x {template.text[:_LINE_CHARS]}"
        if template.count > 1:
            line += f"\n  first: {template.first[:_LINE_CHARS]}\n  last: {template.last[:_LINE_CHARS]}"
        else:
            line = f"1x {template.first[:_LINE_CHARS]}"
        if used + len(line) > budget * 0.7 and shown:
            break
        parts.append(line)
        used, shown = used + len(line) + 1, shown + 1
    if shown < len(grouped):
        parts.append(f"[… {len(grouped) - shown} more templates …]")
    kept: set[int] = set()
    if best:
        parts.append("matching lines:")
    for i in best:
        line = filled[i][0][:_LINE_CHARS]
        if used + len(line) > budget:
            break
        parts.append(line)
        kept.add(i)
        used += len(line) + 1
    removed = [filled[i] for i in range(len(filled)) if i not in kept]
    return Summary("\n".join(parts), "log", len(filled), removed)


def _code(lines: Sequence[str], scores: list[float], budget: int) -> set[int]:
    signatures = [i for i, line in enumerate(lines) if _SIGNATURE.match(line[:_LINE_CHARS])]
    matches = sorted((i for i in range(len(lines)) if scores[i] > 0), key=lambda i: (-scores[i], i))
    around = [j for i in matches for j in range(max(0, i - 2), min(len(lines), i + 3))]
    return _within(lines, [*around[: 5 * 40], *signatures, *around], budget)


def _document(passages: Sequence[str], scores: list[float], budget: int) -> set[int]:
    headings = [i for i, passage in enumerate(passages) if _HEADING.match(passage)]
    facts = [min(3, len(_FACT.findall(passage))) * 0.05 for passage in passages]
    ranked = sorted(range(len(passages)), key=lambda i: (-(scores[i] + facts[i]), i))
    matching = [i for i in ranked if scores[i] > 0]
    return _within(passages, [*matching[:3], *headings, 0, *matching, *ranked], budget)


def _within(units: Sequence[str], wanted: Sequence[int], budget: int) -> set[int]:
    chosen: set[int] = set()
    used = 0
    for i in wanted:
        if i in chosen or i >= len(units):
            continue
        if used + len(units[i]) > budget:
            if chosen:
                continue
            break
        chosen.add(i)
        used += len(units[i]) + 2
    return chosen


def _with_gaps(units: Sequence[str], chosen: set[int], joiner: str, noun: str) -> str:
    parts: list[str] = []
    gap = 0
    for i, unit in enumerate(units):
        if i not in chosen:
            gap += 1
            continue
        if gap:
            parts.append(f"[… {gap} {noun} …]")
            gap = 0
        parts.append(unit)
    if gap:
        parts.append(f"[… {gap} {noun} …]")
    return joiner.join(parts)


Summariser = Callable[[str, Intent], str | None]
