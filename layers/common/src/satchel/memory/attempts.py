"""What was tried before, for the conversation summary of somebody who asks: "what did we already try?"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from satchel.memory.excerpt import excerpt

SHOWN_ATTEMPTS = 5
_PROBLEM_CHARS = 120
_PART_CHARS = 150
_SHOWN_TRIALS = 3
_ASKED = re.compile(
    r"\b(?:what|which|did|have|has|had|anything|everything)\b[^.!\n]{0,60}"
    r"\b(?:tried|try|attempted|worked|ruled out|solved?|fixed|resolved?)\b"
    r"|\balready (?:tried|did|done|attempted|solved|fixed)\b"
    r"|\b(?:how|when) (?:did|have) (?:we|i|you)\b[^.!\n]{0,40}\b(?:solve|fix|resolve|get)\b"
    r"|(?:뭐|뭘|무엇|무슨|어떤|어떻게|이미|지금까지|전에|저번|지난번)[^.!\n]{0,40}"
    r"(?:시도|해\s?봤|해\s?보았|해\s?본|써\s?봤|써\s?본|해결|고쳤|고친)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Attempt:
    """A past discussion of a problem.

    Attributes:
        at: When it was last spoken of.
        problem: What was asked; "" where that was not found.
        trials: What was tried, in order.
        solution: What helped; "" where nothing is known to have helped.
    """

    at: datetime
    problem: str
    trials: Sequence[str]
    solution: str


def asks_what_was_tried(text: str) -> bool:
    """Whether a question is about what was tried, or helped, before."""
    return _ASKED.search(text) is not None


def attempt_line(attempt: Attempt) -> str:
    """An attempt in one line, without its time; trials beyond the last three are left out."""
    parts = [excerpt(attempt.problem, _PROBLEM_CHARS)] if attempt.problem else []
    if attempt.trials:
        tried = "; ".join(excerpt(trial, _PART_CHARS) for trial in attempt.trials[-_SHOWN_TRIALS:])
        parts.append(f"tried: {tried}")
    if attempt.solution:
        parts.append(f"what helped: {excerpt(attempt.solution, _PART_CHARS)}")
    return " — ".join(parts)
