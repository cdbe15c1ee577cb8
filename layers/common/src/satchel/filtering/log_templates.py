"""Log lines grouped by template, in the manner of Drain (He et al., 2017): one line stands for many.

Pure. A line's variable parts (numbers, ids, addresses) are masked; lines of the same length that start alike and agree
in at least half of their words share a template.
"""

import re
from dataclasses import dataclass

WILDCARD = "<*>"
SIMILARITY = 0.5
MAX_TEMPLATES = 500
_HEAD_WORDS = 2
_MAX_LINE_CHARS = 2_000

_TIME = re.compile(
    r"^[\[(]?(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\d\d:\d\d:\d\d(?:[.,]\d{1,9})?|[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d|\d{10,13}(?:\.\d{1,9})?)[\])]?[ \t:-]*"
)
_VARIABLE = re.compile(r".*\d.*|[0-9a-fA-F]{8,}|/.*|\".*\"|'.*'|\S+@\S+")
_LEVELS = (
    "fatal",
    "critical",
    "panic",
    "emergency",
    "error",
    "exception",
    "fail",
    "warn",
    "notice",
    "info",
    "debug",
    "trace",
)
_LEVEL = re.compile(r"\b(" + "|".join(_LEVELS) + r")", re.IGNORECASE)


@dataclass(slots=True)
class Template:
    """Lines that say the same.

    Attributes:
        words: The words, `<*>` where the lines differ.
        count: How many lines.
        first: The first of them, as written.
        last: The last of them, as written.
        severity: 0 is worst (fatal); as many as there are levels for a line that names none.
    """

    words: list[str]
    count: int
    first: str
    last: str
    severity: int

    @property
    def text(self) -> str:
        """The template as one line."""
        return " ".join(self.words)


def is_log_line(line: str) -> bool:
    """Whether a line starts with a time, or names a level near its start."""
    return _TIME.match(line) is not None or _LEVEL.match(line[:40].lstrip("[<( ")) is not None


def severity(line: str) -> int:
    """How bad the worst level is that a line names in its first 200 characters; 0 is worst."""
    found = [_LEVELS.index(match.lower()) for match in _LEVEL.findall(line[:200])]
    return min(found, default=len(_LEVELS))


def templates(lines: list[str]) -> list[Template]:
    """The templates of `lines`, in order of first appearance; at most 500, the last one taking what is left over."""
    buckets: dict[tuple[int, tuple[str, ...]], list[Template]] = {}
    found: list[Template] = []
    for line in lines:
        text = line[:_MAX_LINE_CHARS]
        masked = [WILDCARD if _VARIABLE.fullmatch(word) else word for word in _TIME.sub("", text, count=1).split()]
        key = len(masked), tuple(masked[:_HEAD_WORDS])
        bucket = buckets.setdefault(key, [])
        template = next((known for known in bucket if _alike(known.words, masked)), None)
        if template is None and len(found) >= MAX_TEMPLATES:
            template = found[-1]
            template.words = [WILDCARD]
        if template is None:
            template = Template(masked, 0, text, text, severity(text))
            bucket.append(template)
            found.append(template)
        elif len(template.words) == len(masked):
            template.words = [a if a == b else WILDCARD for a, b in zip(template.words, masked, strict=True)]
        template.count += 1
        template.last = text
    return found


def _alike(known: list[str], words: list[str]) -> bool:
    if not words:
        return True
    return len(known) == len(words) and sum(a == b for a, b in zip(known, words, strict=True)) >= SIMILARITY * len(
        words
    )
