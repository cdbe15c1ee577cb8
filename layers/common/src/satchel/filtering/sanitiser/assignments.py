"""Credentials by what stands before them: `api_key = …`, `"password": "…"`, `<secret>…</secret>`, `--token …`, "is …".

Three passes find places where a credential word is followed by something that may introduce a value; then the whole name
is read backwards and judged by `names`, the value is read forwards and judged by `values`.
"""

from collections.abc import Iterator

from satchel.filtering.sanitiser import named_blocks, tables, value_reading, values
from satchel.filtering.sanitiser.names import PERSONAL, Kind, classify, split_words
from satchel.filtering.sanitiser.patterns import Match, compile_bytes, union
from satchel.filtering.sanitiser.span import Span, assigned
from satchel.filtering.sanitiser.value_reading import PROSE, Candidate, Place
from satchel.filtering.sanitiser.values import Standing

_WORDS = (
    rb"passw(?:or)?[dt]s?|requirepass|masterauth|passphrase|passcode|passwrd|pass\b|\bpasse\b|pswd|pwd|\bpsw\b|[a-z_]pw\b|\bpw\b|psk\b|[a-z]pass\b|storepass|keypass|authtok|keymaterial|"
    rb"secrets?|tokens?|credentials?|creds?\b|apikeys?|accesskey|accountkey|[a-z0-9?&][_\-. ]?key|bearer|"
    rb"auth\b|_auth|jwt|session[_-]?id|sessid|\bsid\b|_pat\b|\bpin\b|\bcvv2?\b|\bcvc\b|\botp\b|(?:security|verification)[ _-]?code|"
    rb"mnemonic|(?:seed|recovery)[ _-]?phrase|senha|contrase(?:n|\xc3\xb1)a|kennwort|wachtwoord|mot de passe|"
    rb"\xec\x95\x94\xed\x98\xb8|\xeb\xb9\x84\xeb\xb0\x80\xeb\xb2\x88\xed\x98\xb8|\xed\x8c\xa8\xec\x8a\xa4\xec\x9b\x8c\xeb\x93\x9c|"
    rb"\xe5\xaf\x86(?:\xe7\xa0\x81|\xe7\xa2\xbc)|\xe5\x8f\xa3\xe4\xbb\xa4|\xe3\x83\x91\xe3\x82\xb9\xe3\x83\xaf\xe3\x83\xbc\xe3\x83\x89|"
    rb"\xd0\xbf\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb\xd1\x8c"
)
_CLOSERS = rb"(?:\[\d{0,4}\])?(?:\\*[\"'`]|[\])}*?!]|\\*u00(?:22|27)|&quot;|%22){0,5}"
_FOR_WHOM = rb"(?: for (?:the )?(?:user(?:name)? )?[\"'`]?[\w.@-]{1,40}[\"'`]?)?"
# The words, what may still belong to the name, closing marks, then what introduces a value.
_INTRODUCED_SOURCE = (
    rb"(?i)(?:" + _WORDS + rb")[\w.\-]{0,30}(?: [a-z]{1,10}){0,2}" + _FOR_WHOM + _CLOSERS + rb"[ \t]{0,24}"
    rb"(?:=>|:=|::=|\|\|=?|\?\?=?|\?=|\.=|\+=|={1,3}|!==?|<-|>|:|,|\(|\||-{2,8}|\.{3,20}|\x1f|%3[dDaA]|"
    + value_reading.WIDE_COLON
    + rb"|\b(?:is|was|are|to|equals)\b)"
)
_INTRODUCED = compile_bytes(_INTRODUCED_SOURCE)
# Nothing but blanks introduces it: command-line flags, SQL, netrc, and prose with a value that has a digit.
_FOLLOWED_NAME = rb"(?:" + _WORDS + rb")[\w.\-]{0,20}(?:[\xea-\xed][\x80-\xbf]{2})?"
_BLANK_AND_VALUE = rb"[ \t]+(?:\\*[\"'`]|by[ \t]+['\"]|[^\s\"'`=:,()<>\[\]{}]{0,40}\d)"
_FOLLOWED = compile_bytes(rb"(?i)(" + _FOLLOWED_NAME + b")" + _BLANK_AND_VALUE)
# The name is itself a value, and what it names stands beside it: XML attributes, `{"name": …, "value": …}`, YAML, plists;
# or further attributes stand between the name and the value.
_NAMED_NAME = rb"(?:" + _WORDS + rb")[\w.\-]{0,30}"
_VALUE_ELSEWHERE = (
    rb"(?:"
    rb"(?:\\*[\"'])?[\s,;]{1,16}"
    rb"(?:[a-z]{1,12}(?:\\*[\"'])?\s{0,4}[=:]\s{0,4}(?:\\*[\"'])?\w{0,20}(?:\\*[\"'])?[\s,]{1,12})?"
    rb"(?:\\*[\"'])?(?:value|val|content|default|defaultvalue|plaintext|cleartext)(?:\\*[\"'])?\s{0,8}[:=]>?\s{0,8}"
    rb"|</(?:\w+:)?(?:key|name|string)>\s{0,24}<(?:\w+:)?(?:string|value|data|integer)>\s{0,8}"
    rb"|(?:\\*[\"'])?(?:\s+[\w:.-]{1,30}=\\*[\"'][^\"'<>]{0,60}[\"']){1,3}\s{0,4}>\s{0,24}"
    rb"(?:<(?:\w+:)?(?:value|string)>\s{0,8})?"
    rb")"
)
_NAMED = compile_bytes(rb"(?i)(" + _NAMED_NAME + b")" + _VALUE_ELSEWHERE)
_SHORTEST_WORD = 2
# The name of a column, a tag's attribute or a block, by what ends it.
_TITLE = rb"(?:" + _WORDS + rb")[\w.()#-]{0,30}(?: [\w.()#-]{1,20}){0,2}(?:\\*[\"']|[ ]{0,24}[,;|\t\r\n]|  )"
_TITLED = compile_bytes(rb"(?i)" + _TITLE)
# Wherever one of them may match, without groups: those would make this one pass over everything twice as slow.
_ANY = compile_bytes(
    rb"(?i)" + union([_INTRODUCED_SOURCE, _FOLLOWED_NAME + _BLANK_AND_VALUE, _NAMED_NAME + _VALUE_ELSEWHERE, _TITLE])
)
_OWN_GRAMMAR = frozenset({Kind.AUTHORIZATION, Kind.COOKIE})  # see wire_formats
_ASKING = frozenset(
    [
        "find",
        "get",
        "fetch",
        "lookup",
        "check",
        "is",
        "has",
        "validate",
        "verify",
        "test",
        "load",
        "read",
        "generate",
        "create",
        "delete",
        "remove",
    ]
)
_SCHEMES = frozenset(
    [
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
    ]
)
_NAME_BYTES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.$" + bytes(range(0x80, 0x100))
_NAME_LIMIT = 80


def find(data: bytes) -> Iterator[Span]:
    """Spans of values that a credential's name introduces, beside it or from the table's header or the block it names."""
    at = table_end = 0
    reached = dict.fromkeys((_INTRODUCED, _FOLLOWED, _NAMED), 0)
    while (hit := _ANY.search(data, at)) is not None:
        start = hit.start()
        at = start + _SHORTEST_WORD
        for pattern, done in reached.items():
            found = pattern.match(data, start)
            if found is None or found.end() <= done:  # within a value that goes whole
                continue
            if pattern is _INTRODUCED:
                span = _introduced(data, found)
            else:
                span = _beside(data, found, follows=pattern is _FOLLOWED)
            if span is not None:
                reached[pattern] = span.end
                yield span
        title = _TITLED.match(data, start)
        if title is None:
            continue
        if data[title.end() - 1] in b"\"'":
            yield from _in_block(data, start)
        if start >= table_end:
            spans, table_end = tables.beneath(data, start, title.end())
            yield from spans


def _in_block(data: bytes, at: int) -> Iterator[Span]:
    yield from named_blocks.in_variable(data, at)
    yield from named_blocks.in_tag(data, at)


def _introduced(data: bytes, hit: Match) -> Span | None:
    name_end, mark = _split_mark(hit)
    name_start = _name_start(data, hit.start())
    candidates = value_reading.behind(data, name_start, hit.end(), mark)
    if mark == b"=" and b")" in data[name_end : hit.end()]:  # (user, password) = credentials
        candidates = (found for found in candidates if not data[found[0] : found[1]].isalpha())
    return _judged(Place(data, name_start, name_end), candidates, mark)


def _beside(data: bytes, hit: Match, *, follows: bool) -> Span | None:
    name_start = _name_start(data, hit.start())
    place = Place(data, name_start, hit.end(1))
    between = data[hit.end(1) : hit.end()]
    if not follows and between[:1].isspace() and b":" not in between and b"<" not in between and b">" not in between:
        return None  # two assignments, one below the other
    if follows:
        return _judged(place, value_reading.after_blank(data, name_start, hit.end(1)), b" ")
    return _judged(place, value_reading.read(data, name_start, hit.end(), Standing.EXACT), b"value")


def _name_start(data: bytes, start: int) -> int:
    head = data[max(0, start - _NAME_LIMIT) : start]
    return start - (len(head) - len(head.rstrip(_NAME_BYTES)))


def _split_mark(hit: Match) -> tuple[int, bytes]:
    """Where the name ends, and the mark that introduces the value (`=`, `:`, `is`, …)."""
    text = hit.group()
    for word in PROSE:
        if text.lower().endswith(b" " + word):
            whom = text.find(b" for ")
            return hit.start() + (whom if whom > 0 else len(text) - len(word)), word
    if text.endswith(value_reading.WIDE_COLON):
        return hit.end() - len(value_reading.WIDE_COLON), b":"
    stripped = text.rstrip(b"=:>,(|<-!?.+\x1f")
    mark = text[len(stripped) :]
    if not mark:  # %3D
        stripped, mark = text[:-3], b"="
    name = stripped.rstrip(b" \t\"'`\\])}*?!").rstrip(b"[")
    return hit.start() + len(name), mark


def _judged(place: Place, candidates: Iterator[Candidate], mark: bytes) -> Span | None:
    name = place.name.strip(" .-_$[?&")
    kind = classify(name)
    if kind is None and name.lower() == "key" and place.is_parameter:
        kind = Kind.KEY
    if kind is None or kind in PERSONAL or kind in _OWN_GRAMMAR or place.is_qualified(mark):
        return None
    if mark.endswith(b"(") and split_words(name)[0] in _ASKING:  # find_password("…") is asked, not told
        return None
    if mark == b"::":  # a member of a type
        return None
    if name.lower() == "pass" and (
        mark in PROSE or mark[:1] == b"-" or (mark in {b" ", b":"} and not place.is_glued_to_mark)
    ):
        return None  # the verb
    for start, found_end, standing in candidates:
        end = value_reading.line_end(place.data, start, found_end) if kind is Kind.PHRASE else found_end
        if mark == b":" and standing is Standing.BARE and _is_sentence(place.data, start, end):
            continue
        # CLIENT_SECRET=… is an environment file, whose values need no quotes.
        is_environment = standing is Standing.BARE and mark == b"=" and name.isupper() and place.is_glued_to_mark
        span = _checked(place.data, start, end, kind, Standing.EXACT if is_environment else standing)
        if span is not None and not _spells(name, place.data[start:end]):
            return span
    return None


def _is_sentence(data: bytes, start: int, end: int) -> bool:
    """Whether a word without digits goes on as a sentence: `password: HTTP Basic password`."""
    return data[start:end].isalpha() and data[end : end + 1] == b" " and data[end + 1 : end + 2].isalpha()


def _spells(name: str, value: bytes) -> bool:
    """Whether the value only repeats the name: `DB_PASSWORD=DB_PASSWORD`, `self.password = password`."""
    letters = "".join(filter(str.isalnum, value.decode("utf-8", "replace"))).lower()
    return len(letters) >= 3 and "".join(filter(str.isalnum, name)).lower().endswith(letters)


def _checked(data: bytes, start: int, end: int, kind: Kind, standing: Standing) -> Span | None:
    text = data[start:end].decode("utf-8", "replace")
    scheme, blank, rest = text.partition(" ")
    if blank and scheme.lower().rstrip(":") in _SCHEMES and rest.strip():
        start += len(scheme.encode()) + 1
        text = rest
    is_call = data[end : end + 1] in {b"(", b"["} and standing is Standing.BARE
    if (is_call and kind is not Kind.PASSWORD) or not values.is_credential(text, kind, standing):
        return None
    return assigned(start, end, kind)
