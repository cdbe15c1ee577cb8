"""Credentials in formats that have their own rules: URLs, HTTP headers, PEM blocks, command lines."""

import base64
import binascii
from collections.abc import Iterator

from satchel.filtering.sanitiser import values
from satchel.filtering.sanitiser.names import Kind, classify
from satchel.filtering.sanitiser.patterns import Match, Pattern, compile_bytes, occurrences
from satchel.filtering.sanitiser.span import Span
from satchel.filtering.sanitiser.values import Standing

_BREAK = compile_bytes(rb"[\s\"'<>\x00]")
_USERINFO_LIMIT = 600
_LINE_LIMIT = 8_192
_HEADER = compile_bytes(
    rb"(?i)authori[sz]ation(?:\\*[\"'])?\s{0,4}(?:=>|[:=,\x1f])\s{0,4}(?:\\*[\"'])?(?:\\*[\"'])?"
    rb"(?:(basic|bearer|token|digest|negotiate|apikey|api-key|bot|key|oauth|jwt|hmac|aws4-hmac-sha256|splunk|ssws|genie"
    rb"key|sso-key|[a-z][a-z-]{2,20})[ :=]+)?(?:token=)?(?:\\*[\"'])?([^\s\"'\\<>,;\x00]{6,})"
)
_SCHEME = compile_bytes(rb"(?i)(bearer|basic)(?:[ \t:]|%20|\+)+([\w=~@.+/:-]{8,})")
_COOKIE = compile_bytes(rb"(?i)cookie2?(?:\\*[\"'])?\s{0,4}[:=\x1f]\s{0,4}(?:\\*[\"'])?([^\r\n\"\\\x00]{6,})")
_COOKIE_PAIR = compile_bytes(rb"([\w.$-]{1,80})=([^\s;,\"']{6,})")
_COOKIE_ATTRIBUTES = frozenset({"path", "domain", "expires", "max-age", "samesite", "version", "priority"})
_SIGNATURE = compile_bytes(rb"[\w%+/=~.-]{16,}")
_PEM = compile_bytes(rb"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = compile_bytes(rb"-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY = compile_bytes(rb"\A(?:[A-Za-z0-9+/=\s]|\\+[nr]|[A-Za-z-]{2,20}: [^\r\n\\]{0,100})*")
_PEM_ENCODED = compile_bytes(rb"LS0tLS1CRUdJTi[A-Za-z0-9+/\s\\]{40,}={0,2}")
_PUTTY = compile_bytes(rb"Private-Lines: \d+\s+((?:[A-Za-z0-9+/=]{4,}\s+){1,100})")
_PEM_LIMIT = 65536
_USER_FLAG = compile_bytes(
    rb"(?:-u|-user|-a|-auth|-creds?)(?:[ =]|\\n)*(?:\\*[\"'])?[^\s\"':@/\\<>]{1,100}:([^\s\"'\\<>\x00]{3,200})"
)
_ATTACHED_FLAG = compile_bytes(rb" -p[ ]?(?:\\*[\"'])?([^\s\"'\\-][^\s\"'\\]{3,100})")
_CLIENTS = compile_bytes(
    rb"\b(?:mysql|mysqldump|mysqladmin|mariadb|sshpass|7z|mongo(?:sh|dump)?|(?:docker|podman|az|oc|helm registry|cf)(?: \w+)? login)\b[^\n|;]*\z"
)
_CONSTRUCTOR = compile_bytes(
    rb"(?i)(?:credentials?|basic_?auth|directoryentry)\(\s*(?:\\*[\"'][^\"'\n]{1,100}[\"']\s*,\s*){1,2}"
    rb"\\*[\"']([^\"'\n\x00]{3,100})[\"']"
)
_NETRC = compile_bytes(rb"(?i)login\s+\S{1,100}\s+password\s+(\S{3,200})")
_PGPASS = compile_bytes(rb":(?:\d{4,5}|\*):[\w.*-]{1,64}:[\w.*-]{1,64}:(\S{4,200})$")
_SQL = compile_bytes(rb"(?i)identified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?'([^'\x00]{3,200})'")
_LDAP_HASH = compile_bytes(rb":(\{(?:S?SHA(?:\d+)?|S?MD5|CRYPT)\}[\w+/=$.]{16,})")

# What is tried where one of these words stands; the words are found in one pass.
_COMMANDS: tuple[tuple[tuple[bytes, ...], Pattern, str], ...] = (
    ((b"-u", b"-a"), _USER_FLAG, "command-line-password"),
    ((b" -p",), _ATTACHED_FLAG, "command-line-password"),
    ((b"credential", b"basic", b"directoryentry("), _CONSTRUCTOR, "constructor-password"),
    ((b"login",), _NETRC, "netrc-password"),
    ((b":5432:", b":*:", b":6432:", b":5433:"), _PGPASS, "pgpass-password"),
    ((b"identified",), _SQL, "sql-password"),
    ((b":{",), _LDAP_HASH, "password-hash"),
)
_SIGNATURES = (b"signature=", b"sig=", b"security-token=", b"code=", b"hmac=")
_WORDS = compile_bytes(
    rb"(?i)authori[sz]ation|bearer[ \t:%+]|basic[ \t:%+]|cookie|signature=|\bsig=|security-token=|\bcode=|hmac=|"
    rb"-u(?:ser)?[ =]|-a(?:uth)?[ =]|-creds?[ =]| -p|credentials?\(|basic_?auth\(|directoryentry\(|login\s|:5432:|:\*:|:6432:|:5433:|identified[ \t]|:\{(?:s?sha|s?md5|crypt)|"
    rb"-----BEGIN |LS0tLS1CRUdJTi|Private-Lines"
)


def find(data: bytes) -> Iterator[Span]:
    """Spans that a format's own grammar gives away."""
    yield from _userinfo(data)
    yield from find_headers(data)


def find_headers(data: bytes) -> Iterator[Span]:
    """Spans of credentials in headers, signed URLs, private keys and command lines."""
    reached = cookies_to = 0
    for hit in _WORDS.finditer(data):
        at, word = hit.start(), hit.group().lower()
        if at < reached or (word == b"cookie" and at < cookies_to):
            continue
        if word == b"cookie":
            match = _COOKIE.match(data, at, at + _LINE_LIMIT)
            if match is not None:
                cookies_to = match.end()
                yield from _cookies(match)
            continue
        for span in _at(data, at, word):
            reached = max(reached, span.end) if span.rule == "private-key" else reached
            yield span


def _at(data: bytes, at: int, word: bytes) -> Iterator[Span]:
    if word.startswith(b"authori"):
        yield from _authorization(data, at)
    elif word.startswith((b"bearer", b"basic")) and not word.endswith(b"("):
        yield from _schemes(data, at)
    elif word in _SIGNATURES:
        yield from _signature(data, at, word)
    elif word.startswith(b"-----"):
        yield from _private_key(data, at)
    elif word.startswith((b"ls0t", b"private-lines")):
        yield from _packed_private_key(data, at)
    else:
        yield from _command_line(data, at, word)


def _userinfo(data: bytes) -> Iterator[Span]:
    for at in occurrences(data, b"@"):
        head = data[max(0, at - _USERINFO_LIMIT) : at]
        begin = head.rfind(b"//")
        if begin < 0 or _BREAK.search(head, begin) is not None:
            continue
        user, colon, password = head[begin + 2 :].partition(b":")
        span = Span(at - len(password), at, "url-password", "secret", shows_tail=False)
        if colon and _is_url_password(user, password):
            yield span
        elif not colon and b"/" not in user and values.looks_random(user.decode("latin-1"), at_least=16):
            yield span._replace(start=at - len(user), rule="url-token")


def _signature(data: bytes, at: int, word: bytes) -> Iterator[Span]:
    match = _SIGNATURE.match(data, at + len(word), at + _LINE_LIMIT)
    before = data[max(0, at - 400) : at]
    in_url = b"?" in before or (word == b"signature=" and b"AWS4" in before)
    if match is not None and in_url and values.looks_random(match.group().decode("latin-1"), at_least=14):
        yield Span(match.start(), match.end(), "signed-url", "secret")


def _is_url_password(user: bytes, password: bytes) -> bool:
    first, at, rest = password.partition(b"@")
    if b"/" in user or (at and any(mark in rest for mark in (b"/", b"?", b"#"))):  # an @ of the path
        return False
    if b"/" in first and first.partition(b"/")[0].isdigit():  # a port and a path
        return False
    text = password.decode("utf-8", "replace")
    return len(text) >= 2 and "://" not in text and not values.is_placeholder(text)


def _authorization(data: bytes, at: int) -> Iterator[Span]:
    if data[max(0, at - 1) : at].isalnum():  # EndpointAuthorization
        return
    match = _HEADER.match(data, at, at + _LINE_LIMIT)
    if match is not None:
        token = match.group(2).decode("utf-8", "replace")
        scheme = (match.group(1) or b"").lower()
        if _is_header_credential(token, scheme):
            yield Span(match.start(2), match.end(2), "authorization-header", "secret")


def _schemes(data: bytes, at: int) -> Iterator[Span]:
    match = _SCHEME.match(data, at, at + _LINE_LIMIT)
    if match is None:
        return
    scheme, token = match.group(1).lower(), match.group(2).decode("latin-1").rstrip(".:,")
    is_bearer = values.is_credential(token, Kind.TOKEN, Standing.BARE) and values.looks_random(token, at_least=8)
    if _is_basic(token) if scheme == b"basic" else is_bearer:
        yield Span(match.start(2), match.start(2) + len(token), "authorization-header", "secret")


def _cookies(line: Match) -> Iterator[Span]:
    for pair in _COOKIE_PAIR.finditer(line.group(1)):
        name, value = pair.group(1).decode("latin-1"), pair.group(2).decode("latin-1")
        if name.lower() in _COOKIE_ATTRIBUTES or values.is_placeholder(value):
            continue
        if values.looks_random(value, at_least=16) or (_is_session(name) and len(value) >= 8):
            yield Span(line.start(1) + pair.start(2), line.start(1) + pair.end(2), "cookie", "secret")


def _is_session(name: str) -> bool:
    lowered = name.lower()
    return (
        any(part in lowered for part in ("sess", "sid", "token", "auth", "jwt", "csrf", "xsrf"))
        or classify(name) is not None
    )


def _is_header_credential(token: str, scheme: bytes) -> bool:
    if values.is_placeholder(token):
        return False
    if scheme == b"basic":
        return _is_basic(token) or values.looks_random(token, at_least=12)
    if values.uuid_version(token) is not None:
        return True
    known = scheme not in {b"", b"aws4-hmac-sha256"}
    return values.is_credential(token, Kind.SECRET if known else Kind.TOKEN, Standing.BARE)


def _is_basic(token: str) -> bool:
    padded = token.rstrip("=")
    try:
        decoded = base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded and decoded.isascii() and len(decoded) > 4


def _private_key(data: bytes, at: int) -> Iterator[Span]:
    match = _PEM.match(data, at, at + 100)
    if match is None:
        return
    inner = _PEM_BODY.match(data[match.end() : match.end() + _PEM_LIMIT])
    body_end = match.end() + (inner.end() if inner is not None else 0)
    closing = _PEM_END.search(data, body_end, body_end + 100)
    # Without its end, the block was cut off: what there is of the key goes.
    end = closing.end() if closing is not None else body_end
    body = data[match.end() : body_end]
    if sum(byte not in b" \r\n\t\\" for byte in body[:400]) >= 24 and b"\x00" not in body:
        yield Span(at, end, "private-key", "secret", shows_tail=False)


def _packed_private_key(data: bytes, at: int) -> Iterator[Span]:
    match = _PUTTY.match(data, at, at + _PEM_LIMIT)
    if match is not None:
        yield Span(match.start(1), match.end(1), "private-key", "secret", shows_tail=False)
        return
    match = _PEM_ENCODED.match(data, at, at + _PEM_LIMIT)
    if match is not None:
        head = match.group().replace(b"\\n", b"").replace(b"\n", b"")[:64]
        if b"PRIVATE KEY" in base64.b64decode(head[: len(head) // 4 * 4]):
            yield Span(at, match.end(), "private-key", "secret", shows_tail=False)


def _command_line(data: bytes, at: int, word: bytes) -> Iterator[Span]:
    for words, pattern, rule in _COMMANDS:
        if not word.startswith(words):
            continue
        match = pattern.match(data, at, at + 600)
        if match is None or (pattern is _ATTACHED_FLAG and _CLIENTS.search(data[max(0, at - 200) : at]) is None):
            continue
        text = match.group(1).decode("utf-8", "replace")
        if not values.is_placeholder(text) and text.lower() not in {"test", "secret"}:
            yield Span(match.start(1), match.end(1), rule, "secret", shows_tail=False)
