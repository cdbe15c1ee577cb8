"""Passwords on command lines and in calls: each program has its own way of taking one.

`OPENINGS` is part of the one pass that looks for every format (see `wire_formats`); what is tried at a hit is found by
the hit's first letters.
"""

from collections.abc import Iterator
from typing import NamedTuple

from satchel.filtering.sanitiser import values
from satchel.filtering.sanitiser.patterns import Pattern, compile_bytes
from satchel.filtering.sanitiser.span import Span

_VALUE = rb"(?:\\*[\"'])?([^\s\"'\\<>|;&\x00-][^\s\"'\\<>|;\x00]{2,200})"
_USER_FLAG = compile_bytes(
    rb"(?:-[uU]|--?user|--?proxy-user|-a|--?auth|-creds?)(?:[ =]|\\n)*(?:\\*[\"'])?[\w.+$\\-]{1,100}:([^\s\"'\\<>\x00]{3,200})"
)
_FLAG = compile_bytes(rb"[ \t]-[pPwkacAX][ ]?" + _VALUE)


class _Rule(NamedTuple):
    """What is tried at a hit that starts with one of these (lower-case) texts; `is_sure`: a plain word counts too."""

    starts: tuple[bytes, ...]
    pattern: Pattern
    rule: str
    is_sure: bool = True


def _rule(starts: str, pattern: bytes, rule: str = "command-line-password", *, is_sure: bool = True) -> _Rule:
    return _Rule(tuple(start.encode() for start in starts.split("|")), compile_bytes(pattern), rule, is_sure)


# Programs that take a password behind a flag, by the flag's letter. The flag means other things elsewhere.
_CLIENTS: dict[bytes, Pattern] = {
    b"p": compile_bytes(
        rb"(?i)\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb(?:-\w+)?|sshpass|7z[ar]?|mongo(?:sh|dump|restore|export|import)?|"
        rb"(?:docker|podman|buildah|skopeo|az|oc|helm registry|cf|argocd|crane|oras)(?: \w+)? login|crackmapexec|cme|nxc|netexec|"
        rb"evil-winrm|(?:ps|smb|wmi|at)exec(?:64)?(?:\.exe|\.py)?|rdesktop|twine|ncftp\w*|hydra|useradd|usermod|winexe|wmic|"
        rb"sqlplus|clickhouse-client|influx|curlftpfs|smbmap|bloodhound\w*|certipy|kinit)\b[^\n|;]*\z"
    ),
    b"P": compile_bytes(
        rb"(?i)\b(?:zip|unzip|zipcloak|sqlcmd|osql|bcp|isql|tsql|freebcp|mosquitto_(?:pub|sub)|ipmitool|beeline)\b[^\n|;]*\z"
    ),
    b"w": compile_bytes(
        rb"(?i)\b(?:ldap(?:search|add|modify|delete|passwd|whoami|modrdn|compare)|beeline)\b[^\n|;]*\z"
    ),
    b"k": compile_bytes(rb"(?i)\b(?:openssl enc|nuget push|aescrypt)\b[^\n|;]*\z"),
    b"a": compile_bytes(rb"(?i)\bredis-(?:cli|benchmark)\b[^\n|;]*\z"),
    b"c": compile_bytes(rb"(?i)\bsnmp(?:walk|get|getnext|bulkwalk|bulkget|set|trap|table|status|check)\b[^\n|;]*\z"),
}
_CLIENTS[b"A"] = _CLIENTS[b"X"] = _CLIENTS[b"c"]

_RULES = (
    _rule(
        "credential|basic|directoryentry(",
        rb"(?i)(?:credentials?|basic_?auth|directoryentry)\(\s*(?:\\*[\"'][^\"'\n]{1,100}[\"']\s*,\s*){1,2}"
        rb"\\*[\"']([^\"'\n\x00]{3,100})[\"']",
        "constructor-password",
    ),
    _rule("login", rb"(?i)login\s+\S{1,100}\s+password\s+[\"']?([^\s\"']{3,200})", "netrc-password"),
    _rule(
        "identified",
        rb"(?i)identified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?(?:'([^'\x00]{3,200})')",
        "sql-password",
    ),
    _rule(":{", rb"(?i):(\{(?:S?SHA(?:\d+)?|S?MD5|CRYPT|PBKDF2\S{0,20})\}[\w+/=$.]{16,})", "password-hash"),
    _rule(" {ss", rb"(?i) (\{S?SHA(?:\d+)?\}[\w+/=$.]{16,})", "password-hash"),
    _rule("net", rb"(?i)net1?(?:\.exe)?[ \t]+user[ \t]+(?:/add[ \t]+)?[^\s/]{1,64}[ \t]+([^\s/*][^\s]{2,127})[ \t]+/(?:add|domain|y|active)"),
    _rule("net", rb"(?i)net1?(?:\.exe)?[ \t]+user[ \t]+(?:/add[ \t]+)?[^\s/]{1,64}[ \t]+([^\s/*][^\s]{2,127})", is_sure=False),
    _rule("net", rb"(?i)net1?(?:\.exe)?[ \t]+use[ \t]+(?:[^\s]{1,200}[ \t]+){1,2}([^\s/*][^\s]{2,127})[ \t]+/u", is_sure=False),
    _rule("net", rb"(?i)net1?(?:\.exe)?[ \t]+use[ \t]+(?:[^\s]{1,200}[ \t]+){1,2}/user:\S{1,100}[ \t]+([^\s/*][^\s]{2,127})", is_sure=False),
    _rule(
        "convertto",
        rb"(?i)convertto-securestring[ \t]+(?:-(?:asplaintext|force|string)[ \t]+){0,3}"
        rb"(?:\\*[\"']([^\"'\n\x00]{3,200}?)\\*[\"']|([^\s\"'$(-][^\s\"'()]{3,200}))",
    ),
    _rule("sqlplus", rb"(?i)sqlplus(?:64)?[ \t]+(?:-\w+[ \t]+){0,3}[\"']?[\w.$#]{1,60}/([^@\s\"'/]{3,100})(?:@|\s|\"|'|\z)", is_sure=False),
    _rule("jdbc:oracle", rb"(?i)jdbc:oracle:\w{1,10}:[\w.$#]{1,60}/([^@\s\"'/]{3,100})@", "connection-string-password"),
    _rule("userid=", rb"(?i)userid=[\w.$#]{1,60}/([^@\s\"'/]{3,100})(?:@|\s|\"|'|\z)", is_sure=False),
    _rule("impacket|secretsdump|psexec|wmiexec|smbexec", rb"(?i)\w{4,20}\S{0,20}\s[^\n]{0,80}?[\w.-]{1,60}/[\w.$-]{1,60}:([^\s@\"']{3,100})@"),
    _rule("htpasswd", rb"htpasswd[ \t]+-(?:\w{0,4}n\w{0,4}b|\w{0,4}b\w{0,4}n)\w{0,4}[ \t]+\S{1,100}[ \t]+[\"']?([^\s\"']{3,100})"),
    _rule("htpasswd", rb"htpasswd[ \t]+-(?:\w{0,4}b\w{0,4})[ \t]+\S{1,200}[ \t]+\S{1,100}[ \t]+[\"']?([^\s\"']{3,100})"),
    _rule("wpa_passphrase", rb"wpa_passphrase[ \t]+(?:\"[^\"]{1,64}\"|\S{1,64})[ \t]+[\"']?([^\s\"']{8,63})"),
    _rule("vault login", rb"vault login[ \t]+(?:-[\w-]+(?:=\S+)?[ \t]+){0,3}([^\s=-][^\s=]{15,200})", "command-line-token"),
    _rule("lftp", rb"(?i)lftp\s[^\n]{0,60}-u[ \t]+[\"']?[^\s,\"']{1,60},([^\s\"']{3,100})"),
    _rule(" -u", rb" -U\s?(?:\\*[\"'])?[^\s%\"':]{1,80}%([^\s\"'%\\]{3,100})", is_sure=False),
    _rule("/p:", rb"/p:[\"']?([^\s\"'/]{3,100})", is_sure=False),
    _rule("/rp", rb"(?i)/rp[ \t]+[\"']?([^\s\"'/]{3,100})", is_sure=False),
    _rule("echo", rb"echo[ \t]+(?:-n[ \t]+)?[\"']?([^\s\"'|$`]{3,100})[\"']?\s*\|\s*sudo[ \t]+(?:-\w+[ \t]+){0,3}-S"),
    _rule("echo", rb"echo[ \t]+(?:-e[ \t]+)?[\"']?[\w.-]{1,60}:([^\s\"'|$`]{3,100})[\"']?\s*\|\s*(?:sudo[ \t]+)?chpasswd"),
    _rule("user ", rb"user [\w.@-]{1,60} ([^\s]{5,60})\r?\n(?:bin|binary|ascii|cd|put|get|mput|mget|lcd|quit|bye)\b", is_sure=False),
)  # fmt: skip
_NAMED_BY = compile_bytes(rb"(?i)\b(?:user|role|to)\s+\S{1,100}\s+identified\s+by\s+\"?([^\s'\";,`]{4,200})")
# Only these are tried where the text before the hit tells what it is.
_BEFORE_AT = compile_bytes(rb"(?:\A|[\s\"'=(])[\w.$-]{1,64}:([^\s:@/\"'\x00]{3,100})\z")

OPENINGS = (
    rb"-u(?:ser)?[ =]|-proxy-user[ =]|-a(?:uth)?[ =]|-creds?[ =]|[ \t]-(?-i:[uUpPwkcaAX])|"
    rb"credentials?\(|basic_?auth\(|directoryentry\(|login\s|identified[ \t]|:\{(?:s?sha|s?md5|crypt|pbkdf2)| \{s?sha|"
    rb"\bnet1?(?:\.exe)?[ \t]+use|convertto-securestring|sqlplus(?:64)?[ \t]|jdbc:oracle:|userid=|htpasswd[ \t]+-|"
    rb"wpa_passphrase[ \t]|vault login|\blftp[ \t]|[ \t]/r?p[: ]|\becho[ \t]|@(?:tcp|udp|unix)\(|impacket-|secretsdump|(?:ps|wmi|smb)exec\.py|\nuser [\w.@-]"
)


def at(data: bytes, start: int, word: bytes) -> Iterator[Span]:
    """Spans of passwords whose program, flag or call begins at `start` with `word` (lower case)."""
    if word[:1] == b"@":
        yield from _before_at(data, start)
        return
    word = word.lstrip(b" \t\n")
    begin = start + (len(data[start : start + 2]) - len(data[start : start + 2].lstrip(b" \t\n")))
    flag = data[start : start + 3]
    if flag[:1] in {b" ", b"\t"} and flag[1:2] == b"-":
        yield from _flagged(data, start, flag[2:3])
    if word.startswith((b"-u", b"-a", b"-proxy", b"-cred")):
        yield from _spans(data, _Rule((), _USER_FLAG, "command-line-password"), begin)
    if word.startswith(b"identified"):
        yield from _identified(data, start)
    lead = data[start:begin] + word
    for rule in _RULES:
        starts_word = word.startswith(rule.starts)
        if starts_word or lead.startswith(rule.starts):
            found = list(_spans(data, rule, begin if starts_word else start))
            if found:
                yield from found
                return


def _flagged(data: bytes, start: int, letter: bytes) -> Iterator[Span]:
    clients = _CLIENTS.get(letter)
    if clients is not None and clients.search(data[max(0, start - 200) : start]) is not None:
        yield from _spans(data, _Rule((), _FLAG, "command-line-password"), start)


def _identified(data: bytes, at: int) -> Iterator[Span]:
    """A password without quotes: only behind a user, since things are identified by others in prose."""
    match = _NAMED_BY.search(data, max(0, at - 120), at + 240)
    if (
        match is not None
        and match.start(1) > at
        and not values.is_placeholder(match.group(1).decode("utf-8", "replace"))
    ):
        yield Span(match.start(1), match.end(1), "sql-password", "secret", shows_tail=False)


def _before_at(data: bytes, at: int) -> Iterator[Span]:
    head = max(0, at - 200)
    match = _BEFORE_AT.search(data[head:at])
    if match is not None and not values.is_placeholder(match.group(1).decode("utf-8", "replace")):
        yield Span(head + match.start(1), at, "connection-string-password", "secret", shows_tail=False)


def _spans(data: bytes, rule: _Rule, start: int) -> Iterator[Span]:
    match = rule.pattern.match(data, start, start + 800)
    if match is None:
        return
    for group, raw in enumerate(match.groups(), start=1):
        if raw is None:
            continue
        text = raw.decode("utf-8", "replace")
        if values.is_placeholder(text) or text.lower() in {"test", "secret"} or (not rule.is_sure and text.isalpha()):
            continue
        yield Span(match.start(group), match.end(group), rule.rule, "secret", shows_tail=False)
