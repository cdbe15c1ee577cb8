"""Where the value stands that a name introduces, and where it ends: quotes of every kind, bare words, XML, comments."""

from collections.abc import Iterator
from dataclasses import dataclass

from satchel.filtering.sanitiser.patterns import compile_bytes
from satchel.filtering.sanitiser.values import Standing

Candidate = tuple[int, int, Standing]

WIDE_COLON = "\uff1a".encode()  # how Chinese and Japanese write it
PROSE = frozenset({b"is", b"was", b"are", b"to", b"equals"})

_NESTED = compile_bytes(rb"(?i)\A\s*<(?:\w+:)?(?:value|string|val|data)>\s*")
_OPENING_QUOTE = compile_bytes(rb"\A(?:[rbfuRBFUL@$]{1,2})?(\\*)(\"\"\"|'''|[\"'`]|u00(?:22|27)|&quot;|%22)")
_UNQUOTED = compile_bytes(rb"\A[^\s\"'`<>\x00]+")
_CUT = compile_bytes(rb"[;,&|]\s*[\w.\[\]\"'-]+\s*[=:]|[;,]$|&(?:amp;|[\w.\[\]-]+=?)|\\[nrt]|%26|\\u0026")
# Between the mark and the value: a YAML tag, anchor or block mark, a list's dash, a field `value`, a constructor, a second mark, CDATA.
_GLUE = compile_bytes(
    rb"\A[ \t]*(?:(?:\\n|\r?\n)[ \t]+(?:-[ \t]+|[\"']?value[\"']?:[ \t]*)?)?"
    rb"(?:!!\w+[ \t]+|&\w{1,40}[ \t]+|[|>][+-]?[ \t]*\r?\n[ \t]*|new \w+\(|\+=?[ \t]*|\*\*[ \t]*|[=>:(]{1,2}[ \t]*|<!\[CDATA\[)?"
)
_TYPE = compile_bytes(rb"\A[ \t]*[&\w.<>\[\]|?* ]{1,40}=[ \t]*(?:[rbfu]?[\"'])")
_COMMANDS = frozenset({b"", b"env", b"arg", b"set", b"setx", b"export", b"login"})
_VALUE_LIMIT = 8192


@dataclass(frozen=True, slots=True)
class Place:
    """A name in a text."""

    data: bytes
    start: int
    end: int

    @property
    def name(self) -> str:
        """The name as text."""
        return self.data[self.start : self.end].decode("utf-8", "replace")

    def is_qualified(self, mark: bytes) -> bool:
        """Whether it is a part of a longer name: `AWS::IAM::AccessKey`, `arn:aws:secretsmanager:…:secret:db`."""
        before = self.data[max(0, self.start - 2) : self.start]
        return before == b"::" or (before[-1:] == mark == b":" and before[:1].isalnum())

    @property
    def is_glued_to_mark(self) -> bool:
        """Whether no blank follows, or a dash makes it a flag."""
        is_flag = self.data[max(0, self.start - 1) : self.start] == b"-" or self.name[:1] == "-"
        return is_flag or self.data[self.end : self.end + 1] not in {b" ", b"\t", b"`"}

    @property
    def is_parameter(self) -> bool:
        """Whether it is a parameter of a URL."""
        return self.data[max(0, self.start - 1) : self.start] in {b"?", b"&"} or self.name[:1] in {"?", "&"}


def behind(data: bytes, name_start: int, at: int, mark: bytes) -> Iterator[Candidate]:
    """Where a value may stand behind the mark; the first that passes is to be taken."""
    last = mark[-1:]
    if mark in PROSE:
        at = _skip_blanks(data, at)
        if data[at : at + 1] in {b":", b"="}:
            at = _skip_blanks(data, at + 1)
        yield from read(data, name_start, at, Standing.PROSE)
        return
    if mark == b"|" and data[at : at + 1] not in {b" ", b"\t"}:  # alternatives of a pattern
        return
    typed = _TYPE.match(data[at : at + 60]) if last == b":" else None
    if typed is not None:  # token: str = "…"
        yield from read(data, name_start, at + typed.end() - 1, Standing.BARE)
    glue = _GLUE.match(data[at : at + 80])
    at += glue.end() if glue is not None else 0
    if last == b">" and data[at : at + 1] in {b"@", b":", b"/"}:  # <password>@host
        return
    needs_quote = last in {b",", b"(", b"|", b"?"} and mark != b"|"
    for start, end, standing in read(data, name_start, at, Standing.BARE):
        if needs_quote and standing is not Standing.EXACT:
            continue
        if last == b"," and _is_next_key(data, name_start, end):
            continue
        # Behind a comma only the argument of a call is sure; in a list of words anything may follow.
        is_list = last == b"," and data[max(0, name_start - 2) : name_start - 1] != b"("
        yield start, end, Standing.PROSE if is_list else standing
    nested = _NESTED.match(data[at : at + 60]) if last == b">" else None
    if nested is not None:  # <property name="password"><value>…
        yield from read(data, name_start, at + nested.end(), Standing.BARE)


def after_blank(data: bytes, name_start: int, at: int) -> Iterator[Candidate]:
    """Where a value may stand that only blanks separate from its name."""
    start = _skip_blanks(data, at)
    if data[start : start + 3].lower() == b"by ":
        start = _skip_blanks(data, start + 3)
    is_flag = data[max(0, name_start - 1) : name_start] == b"-" or data[name_start : name_start + 1] == b"-"
    lead = data[data.rfind(b"\n", max(0, name_start - 200), name_start) + 1 : name_start][-200:].strip().lower()
    is_command = lead in _COMMANDS or lead.endswith((b"login", b"user")) or b"machine " in lead
    yield from read(data, name_start, start, Standing.BARE if is_flag or is_command else Standing.PROSE)


def read(data: bytes, name_start: int, at: int, standing: Standing) -> Iterator[Candidate]:
    """The value that begins here, without its quotes."""
    quote = _OPENING_QUOTE.match(data[at : at + 16])
    if quote is not None:
        start = at + quote.end()
        inner = _OPENING_QUOTE.match(data[start : start + 16])
        if inner is not None and inner.group(2) != quote.group(2) and len(inner.group()) == 1:  # '"…"'
            yield start + 1, _closing(data, start + 1, inner.group(2), escaped=False), Standing.EXACT
        closing = quote.group(1) + quote.group(2)
        yield start, _closing(data, start, closing, escaped=bool(quote.group(1))), Standing.EXACT
        return
    match = _UNQUOTED.match(data[at : at + _VALUE_LIMIT])
    if match is None:
        return
    end = at + match.end()
    cut = _CUT.search(data[at:end])
    if cut is not None and cut.start() > 0:
        end = at + cut.start()
    end = at + len(data[at:end].rstrip(b".,;:!)]}\\" if standing is Standing.PROSE else b",;:)]}\\"))
    if data[max(0, name_start - 1) : name_start] in {b"?", b"&"} and b"&" in data[at:end]:
        end = at + data[at:end].index(b"&")
    if at < end:
        yield at, end, standing


def line_end(data: bytes, start: int, end: int) -> int:
    """The end of the line in which the value stands."""
    line = data.find(b"\n", end, start + 400)
    return line if line >= 0 else min(len(data), max(end, start + 400))


def _skip_blanks(data: bytes, at: int) -> int:
    while at < len(data) and data[at] in b" \t":
        at += 1
    return at


def _closing(data: bytes, start: int, closing: bytes, *, escaped: bool) -> int:
    """Where a quoted value ends: at its closing mark, else at the end of the line (the text was cut off)."""
    limit = min(len(data), start + _VALUE_LIMIT)
    stop = data.find(b"\x00", start, limit)
    limit = stop if stop >= 0 else limit
    end = data.find(closing, start, limit)
    while end > start and not escaped and closing in {b'"', b"'"} and _is_escaped(data, start, end):
        end = data.find(closing, end + 1, limit)
    if end >= 0:
        return end
    line = data.find(b"\n", start, limit)
    return line if line >= 0 else limit


def _is_next_key(data: bytes, name_start: int, value_end: int) -> bool:
    """Whether what looks like an argument behind a comma is a key, or what looks like a name is the end of a text."""
    after = data[value_end : value_end + 8].lstrip(b"\\\"'").lstrip()
    return after[:1] == b":" or data[max(0, name_start - 1) : name_start] not in {b'"', b"'", b"`", b"(", b"."}


def _is_escaped(data: bytes, start: int, at: int) -> bool:
    run = data[start:at]
    return (len(run) - len(run.rstrip(b"\\"))) % 2 == 1
