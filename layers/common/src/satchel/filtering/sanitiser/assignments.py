"""Credentials by what stands before them: `api_key = …`, `"password": "…"`, `<secret>…</secret>`, `--token …`, "is …".

Two passes find places where a credential word is followed by something that may introduce a value; then the whole name
is read backwards, judged by `names`, the value is read forwards, and judged by `values`.
"""

from collections.abc import Iterator
from typing import Any

from satchel.filtering.sanitiser import values
from satchel.filtering.sanitiser.names import Kind, classify
from satchel.filtering.sanitiser.patterns import compile_bytes
from satchel.filtering.sanitiser.span import Span
from satchel.filtering.sanitiser.values import Standing

_WORDS = (
    rb"passw(?:or)?[dt]s?|requirepass|masterauth|passphrase|passcode|passwrd|\bpass\b|_pass\b|userpass|dbpass|pswd|pwd|\bpsw\b|_pw\b|\bpw\b|"
    rb"secrets?|tokens?|credentials?|creds?\b|apikeys?|accesskey|accountkey|[a-z0-9][_\-. ]?key|bearer|"
    rb"auth\b|_auth|jwt|session[_-]?id|sessid|\bsid\b|_pat\b|_psk\b|\bpin\b|\bcvv2?\b|\bcvc\b|\botp\b|(?:security|verification)[ _-]?code|"
    rb"mnemonic|(?:seed|recovery)[ _-]?phrase|senha|contrase(?:n|\xc3\xb1)a|kennwort|wachtwoord|mot de passe|"
    rb"\xec\x95\x94\xed\x98\xb8|\xeb\xb9\x84\xeb\xb0\x80\xeb\xb2\x88\xed\x98\xb8|\xed\x8c\xa8\xec\x8a\xa4\xec\x9b\x8c\xeb\x93\x9c|"
    rb"\xe5\xaf\x86(?:\xe7\xa0\x81|\xe7\xa2\xbc)|\xe5\x8f\xa3\xe4\xbb\xa4|\xe3\x83\x91\xe3\x82\xb9\xe3\x83\xaf\xe3\x83\xbc\xe3\x83\x89|"
    rb"\xd0\xbf\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb\xd1\x8c"
)
_CLOSERS = rb"(?:\\*[\"'`]|[\])}*?!]|\\*u00(?:22|27)|&quot;|%22){0,5}"
# The words, what may still belong to the name, closing marks, then what introduces a value.
_INTRODUCED = compile_bytes(
    rb"(?i)(?:" + _WORDS + rb")[\w.\-]{0,30}(?: [a-z]{1,10}){0,2}" + _CLOSERS + rb"[ \t]{0,24}"
    rb"(?:=>|:=|::=|\|\|=|\?=|\.=|\+=|={1,3}|!==?|<-|->|>|:|,|\(|\||\x1f|%3[dDaA]|\xef\xbc\x9a|\b(?:is|was|are|to|equals)\b)"
)
# Nothing but blanks introduces it: command-line flags, SQL, netrc, YAML blocks and prose with a value that has a digit.
_FOLLOWED = compile_bytes(
    rb"(?i)(?:" + _WORDS + rb")[\w.\-]{0,20}[ \t]+(?:\\*[\"'`]|by[ \t]+['\"]|[^\s\"'`=:,()<>\[\]{}]{0,40}\d)"
)
# The name is itself a value, and what it names stands beside it: XML attributes, `{"name": …, "value": …}`, YAML.
_NAMED = compile_bytes(
    rb"(?i)(?:"
    + _WORDS
    + rb")[\w.\-]{0,30}(?:\\*[\"'])?[\s,;]{1,16}(?:[a-z]{1,12}(?:\\*[\"'])?\s{0,4}[=:]\s{0,4}(?:\\*[\"'])?\w{0,20}(?:\\*[\"'])?[\s,]{1,12})?"
    rb"(?:\\*[\"'])?(?:value|val|content|default|defaultvalue|plaintext|cleartext)(?:\\*[\"'])?\s{0,8}[:=]>?\s{0,8}|"
    rb"(?i)(?:"
    + _WORDS
    + rb")[\w.\-]{0,30}</(?:\w+:)?(?:key|name|string)>\s{0,24}<(?:\w+:)?(?:string|value|data|integer)>\s{0,8}"
)
_XML_NESTED = compile_bytes(rb"(?i)\A\s*<(?:\w+:)?(?:value|string|val|data)>\s*")
_OPENING_QUOTE = compile_bytes(rb"\A(?:[rbfuRBFUL@$]{1,2})?(\\*)(\"\"\"|'''|[\"'`]|u00(?:22|27)|&quot;|%22)")
_UNQUOTED = compile_bytes(rb"\A[^\s\"'`<>\x00]+")
_CUT = compile_bytes(rb"[;,&|]\s*[\w.\[\]\"'-]+\s*[=:]|[;,]$|&(?:amp;|[\w.\[\]-]+=?)|\\[nrt]|%26|\\u0026")
_GLUE = compile_bytes(
    rb"\A[ \t]*(?:(?:\\n|\r?\n)[ \t]+)?(?:!!\w+[ \t]+|[|>][+-]?[ \t]*\r?\n[ \t]*|new \w+\(|\+=?[ \t]*|\*\*[ \t]*|[=>:(]{1,2}[ \t]*)?"
)
_SCHEMES = frozenset(
    {
        "basic",
        "bearer",
        "token",
        "digest",
        "apikey",
        "api-key",
        "negotiate",
        "key",
        "bot",
        "oauth",
        "jwt",
        "hmac",
        "signature",
    }
)
_NAME_BYTES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.$" + bytes(range(0x80, 0x100))
_NAME_LIMIT = 80
_VALUE_LIMIT = 8192
_WIDE_COLON = "：".encode()
_PROSE = frozenset({b"is", b"was", b"are", b"to", b"equals"})
_KIND_RULES = {kind: f"assigned-{kind.value}" for kind in Kind}


def find(data: bytes) -> Iterator[Span]:
    """Spans of values that a credential's name introduces."""
    for pattern in (_INTRODUCED, _FOLLOWED, _NAMED):
        reached = 0
        for hit in pattern.finditer(data):
            if hit.end() <= reached:  # within a value that goes whole
                continue
            for span in _judge(data, hit.start(), hit.end(), pattern):
                reached = span.end
                yield span


def _judge(data: bytes, start: int, end: int, pattern: Any) -> Iterator[Span]:
    head = data[max(0, start - _NAME_LIMIT) : start]
    name_start = start - (len(head) - len(head.rstrip(_NAME_BYTES)))
    if pattern is _INTRODUCED:
        name_end, mark = _split_mark(data, start, end)
    else:
        text = data[start:end]
        name_end = start + len(text) - len(text.lstrip(_NAME_BYTES))
        mark = b" " if pattern is _FOLLOWED else b"value"
        end = name_end if pattern is _FOLLOWED else end
    name = _name_text(data[name_start:name_end])
    kind = classify(name)
    if kind is None or kind in {Kind.SSN, Kind.PHONE, Kind.CARD}:
        return
    if kind in {Kind.AUTHORIZATION, Kind.COOKIE}:
        return
    for value_start, value_end, standing in _values(data, name_start, end, mark):
        found = _checked(data, value_start, value_end, kind, standing)
        if found is not None:
            yield found
            return


def _name_text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").strip(" .-_$")


def _split_mark(data: bytes, start: int, end: int) -> tuple[int, bytes]:
    """Where the name ends, and the mark that introduces the value (`=`, `:`, `is`, …)."""
    text = data[start:end]
    for word in _PROSE:
        if text.lower().endswith(b" " + word):
            return end - len(word), word
    if text.endswith(_WIDE_COLON):
        return end - len(_WIDE_COLON), b":"
    stripped = text.rstrip(b"=:>,(|<-!?.+\x1f")
    mark = text[len(stripped) :]
    if not mark:  # %3D
        stripped, mark = text[:-3], b"="
    return start + len(stripped.rstrip(b" \t\"'`\\])}*?!")), mark


def _values(data: bytes, name_start: int, at: int, mark: bytes) -> Iterator[tuple[int, int, Standing]]:
    """Where a value may stand behind the mark; the first that passes is taken."""
    last = mark[-1:]
    if mark in _PROSE:
        at = _skip_blanks(data, at)
        if data[at : at + 1] in b":=":
            at = _skip_blanks(data, at + 1)
        yield from _read(data, name_start, at, Standing.PROSE)
        return
    if mark == b" ":
        yield from _after_blank(data, name_start, at)
        return
    if mark == b"value":
        yield from _read(data, name_start, at, Standing.EXACT)
        return
    glue = _GLUE.match(data[at : at + 80])
    at += glue.end() if glue is not None else 0
    needs_quote = last in b",("
    for value_start, value_end, standing in _read(data, name_start, at, Standing.BARE):
        if needs_quote and standing is not Standing.EXACT:
            continue
        if last == b"," and _is_next_key(data, name_start, value_end):
            continue
        yield value_start, value_end, standing
    nested = _XML_NESTED.match(data[at : at + 60]) if last == b">" else None
    if nested is not None:  # <property name="password"><value>…
        yield from _read(data, name_start, at + nested.end(), Standing.BARE)


def _after_blank(data: bytes, name_start: int, at: int) -> Iterator[tuple[int, int, Standing]]:
    start = _skip_blanks(data, at)
    if data[start : start + 3].lower() == b"by ":
        start = _skip_blanks(data, start + 3)
    flag = data[max(0, name_start - 2) : name_start].endswith(b"-") or data[name_start : name_start + 1] == b"-"
    line_start = data.rfind(b"\n", 0, name_start) + 1
    lead = data[line_start:name_start].strip().lower()
    command = (
        lead in {b"", b"env", b"arg", b"set", b"setx", b"export", b"login"}
        or lead.endswith((b"login", b"user"))
        or b"machine " in lead
    )
    yield from _read(data, name_start, start, Standing.BARE if flag or command else Standing.PROSE)


def _skip_blanks(data: bytes, at: int) -> int:
    while at < len(data) and data[at] in b" \t":
        at += 1
    return at


def _read(data: bytes, name_start: int, at: int, standing: Standing) -> Iterator[tuple[int, int, Standing]]:
    quote = _OPENING_QUOTE.match(data[at : at + 16])
    if quote is not None:
        closing = quote.group(1) + quote.group(2)
        start = at + quote.end()
        end = _closing(data, start, closing, escaped=bool(quote.group(1)))
        yield start, end, Standing.EXACT if standing is not Standing.PROSE else standing
        return
    match = _UNQUOTED.match(data[at : at + _VALUE_LIMIT])
    if match is None:
        return
    end = at + match.end()
    cut = _CUT.search(data[at:end])
    if cut is not None and cut.start() > 0:
        end = at + cut.start()
    end = at + len(data[at:end].rstrip(b".,;:!)]}\\" if standing is Standing.PROSE else b",;)]}\\"))
    if data[name_start - 1 : name_start] in b"?&" and b"&" in data[at:end]:
        end = at + data[at:end].index(b"&")
    if at < end:
        yield at, end, standing


def _closing(data: bytes, start: int, closing: bytes, *, escaped: bool) -> int:
    """Where a quoted value ends: at its closing mark, else at the end of the line (cut-off text)."""
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
    return after[:1] == b":" or data[name_start - 1 : name_start] not in {b'"', b"'", b"`", b"(", b"."}


def _is_escaped(data: bytes, start: int, at: int) -> bool:
    run = data[start:at]
    return (len(run) - len(run.rstrip(b"\\"))) % 2 == 1


def _checked(data: bytes, start: int, end: int, kind: Kind, standing: Standing) -> Span | None:
    text = data[start:end].decode("utf-8", "replace")
    scheme, blank, rest = text.partition(" ")
    if blank and scheme.lower().rstrip(":") in _SCHEMES and rest.strip():
        start += len(scheme.encode()) + 1
        text = rest
    if standing is Standing.BARE and kind is not Kind.PASSWORD and _is_code_line(data, start, end):
        return None
    if not values.is_credential(text, kind, standing):
        return None
    return Span(start, end, _KIND_RULES[kind], "secret", shows_tail=kind not in {Kind.PASSWORD, Kind.PIN, Kind.PHRASE})


def _is_code_line(data: bytes, start: int, end: int) -> bool:
    """Whether an unquoted value is the beginning of a call or a subscript."""
    del start
    return data[end : end + 1] in {b"(", b"["}
