"""Credentials in formats that have their own rules: URLs, HTTP headers, password files.

One pass looks for the openings of all formats, those of keys, command lines and network devices too.
"""

import base64
import binascii
from collections.abc import Iterator

from satchel.filtering.sanitiser import command_lines, named_blocks, network_devices, private_keys, tables, values
from satchel.filtering.sanitiser.names import Kind, classify
from satchel.filtering.sanitiser.patterns import Match, compile_bytes, occurrences
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
_SCHEME = compile_bytes(rb"(?i)(bearer|basic)(?:[ \t:.]|%20|\+)+([\w=~@.+/:-]{8,})")
_COOKIE = compile_bytes(rb"(?i)cookie2?(?:\\*[\"'])?\s{0,4}[:=\x1f]\s{0,4}(?:\\*[\"'])?([^\r\n\"\\\x00]{6,})")
_COOKIE_PAIR = compile_bytes(rb"([\w.$-]{1,80})=([^\s;,\"']{6,})")
_PGPASS = compile_bytes(
    rb"[\w.*/-]{1,100}(:)(?:\d{2,5}|\*):[\w.*-]{1,64}:[\w.*@-]{1,64}:((?:[^\s:\\\x00]|\\.){4,200})[ \t]*(?:\r?\n|\z|\x00)"
)
_NT_HASHES = compile_bytes(rb":([0-9A-Fa-f]{32}:[0-9A-Fa-f]{32})")
_NT_BYTES = 70
_COOKIE_ATTRIBUTES = frozenset({"path", "domain", "expires", "max-age", "samesite", "version", "priority"})
_SIGNATURE = compile_bytes(rb"[\w%+/=~.-]{16,}")
_WEBHOOK = compile_bytes(
    rb"(?:hooks\.zapier\.com/hooks/catch/\d+/\w+|maker\.ifttt\.com/trigger/[^/\s]{1,80}/(?:json/)?with/key/[\w-]{16,}|"
    rb"open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/[\w-]{16,}|qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=[\w-]{16,}|"
    rb"outlook\.office(?:365)?\.com/webhook/[\w@/-]{60,}|webexapis\.com/v1/webhooks/incoming/[\w=-]{30,}|"
    rb"hook\.(?:[a-z]{2}\d\.)?(?:make|integromat)\.com/\w{20,}|/hooks/[a-z0-9]{26}\b)"
)
# Fields of `Authorization: Digest …, response="…"` and its kin that prove who asks.
_PROOF = compile_bytes(
    rb"(?i)\b(?:response|mac|signature|oauth_token|oauth_signature|token)=(?:\\*[\"'])?([\w+/=%.~-]{16,})"
)
_SIGNATURES = (b"signature=", b"sig=", b"security-token=", b"code=", b"hmac=")
_WORDS = compile_bytes(
    rb"(?i)authori[sz]ation|bearer[ \t:%+.]|basic[ \t:%+]|cookie|signature=|\bsig=|security-token=|\bcode=|hmac=|"
    rb"-----?[ ]?BEGIN |LS0tLS1CRUdJTi|Private-Lines|:(?:\d{2,5}|\*):[\w.*-]{1,64}:[\w.*@-]{1,64}:|"
    rb"hooks\.zapier|maker\.ifttt|/bot/v2/hook|cgi-bin/webhook|office(?:365)?\.com/webhook/|webhooks/incoming/|"
    rb"kind[\"']?:\s*[\"']?Secret\b|insert\s+(?:ignore\s+)?into\s|integromat\.com|\bmake\.com/|/hooks/[a-z0-9]{8}|"
    + command_lines.OPENINGS
    + b"|"
    + network_devices.OPENINGS
)
_HOSTS = (b"hooks", b"maker", b"/bot", b"cgi-", b"office", b"webhooks", b"integromat", b"make.", b"/hooks")
_HOST_BYTES = 40


def find(data: bytes) -> Iterator[Span]:
    """Spans that a format's own grammar gives away."""
    yield from _userinfo(data)
    yield from find_headers(data)
    yield from private_keys.in_structures(data)


def find_headers(data: bytes) -> Iterator[Span]:
    """Spans of credentials in headers, signed URLs, private keys and command lines."""
    reached = cookies_to = rows_to = secret_to = 0
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
        if word.startswith(b"insert"):
            if at >= rows_to:
                rows, rows_to = tables.inserted(data, at)
                yield from rows
            continue
        if word.startswith(b"kind"):
            if at >= secret_to:
                fields, secret_to = named_blocks.in_kubernetes_secret(data, at)
                yield from fields
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
    elif word.endswith(b"begin "):
        yield from private_keys.at_opening(data, at)
    elif word.startswith((b"ls0t", b"private-lines")):
        yield from private_keys.packed(data, at)
    elif word.startswith(_HOSTS):
        yield from _webhook(data, at)
    elif word[:1] == b":" and word[-1:] == b":":
        yield from _pgpass(data, at)
    else:
        yield from command_lines.at(data, at, word)
        yield from network_devices.at(data, at, word)


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
    in_url = b"?" in before or b"SharedAccess" in before or (word == b"signature=" and b"AWS4" in before)
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
    line_end = data.find(b"\n", at, at + _LINE_LIMIT)
    for proof in _PROOF.finditer(data, at, line_end if line_end >= 0 else min(len(data), at + _LINE_LIMIT)):
        if values.looks_random(proof.group(1).decode("latin-1"), at_least=16):
            yield Span(proof.start(1), proof.end(1), "authorization-header", "secret")


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


def _webhook(data: bytes, at: int) -> Iterator[Span]:
    """A webhook's address: who knows it may post."""
    match = _WEBHOOK.search(data, max(0, at - _HOST_BYTES), at + _HOST_BYTES * 5)
    if match is not None and match.start() <= at < match.end() and not _is_dummy(match.group()):
        yield Span(match.start(), match.end(), "webhook", "secret")


def _is_dummy(address: bytes) -> bool:
    return values.is_placeholder(address.rpartition(b"/")[2].decode("latin-1"))


def _pgpass(data: bytes, at: int) -> Iterator[Span]:
    """`host:port:database:user:password`, a line of its own; or the hashes of a Windows dump: `name:500:LM:NT:::`."""
    start = max(0, at - _HOST_BYTES * 3)
    line = data.rfind(b"\n", start, at) + 1
    dump = _NT_HASHES.search(data, at + 1, at + _NT_BYTES * 2)
    if dump is not None and data[dump.end() : dump.end() + 1] == b":" and dump.start() <= at + 6:
        yield Span(dump.start(1), dump.end(1), "password-hash", "secret", shows_tail=False)
    match = _PGPASS.match(data, line if line > 0 else start, at + _LINE_LIMIT)
    if match is None or match.start(1) > at:
        return
    text = match.group(2).decode("utf-8", "replace")
    is_path = match.group(2)[:1] in {b"/", b"."} or b":" in match.group(2).replace(b"\\:", b"")
    if not is_path and not text.isalpha() and not text.isdigit() and not values.is_placeholder(text):
        yield Span(match.start(2), match.end(2), "pgpass-password", "secret", shows_tail=False)
