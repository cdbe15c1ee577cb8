"""Passwords in the configuration of switches, routers, access points and SNMP agents, where keywords introduce them."""

from collections.abc import Iterator

from satchel.filtering.sanitiser import values
from satchel.filtering.sanitiser.patterns import Pattern, compile_bytes
from satchel.filtering.sanitiser.span import Span

# How a value is stored stands before it: Cisco's digit (0 plain, 5 and up hashed, 7 obscured), or a word.
_STORED = rb"(?:(?:[0-9]|ENC|ascii(?:-text)?|hex(?:adecimal)?|encrypted|clear(?:text)?|sha\d*|md5)[ \t]+){0,2}"
_VALUE = rb"\"?([^\s\"';\x00]{3,200})"

OPENINGS = (
    rb"snmp-server\s|\br[ow]community6?\s|com2sec6?\s|createuser\s|snmp[ -]community|community[ \t]+name|"
    rb"\benable\s+(?:secret|password)\s|(?:^|\n)\s*username\s|password[ \t]+[0-9][ \t]|(?:tacacs|radius)[- ]?(?:server|host)?\s|"
    rb"isakmp\s+key|key-string\s|pre-shared-key\s|authentication-key\s|message-digest-key\s|wpa-psk\s|"
    rb"standby\s+\d|ppp\s+(?:chap|pap)|\bset\s+\w{2,20}\s+enc\s"
)
_RULES: tuple[tuple[tuple[bytes, ...], Pattern], ...] = tuple(
    (tuple(start.encode() for start in starts.split("|")), compile_bytes(rb"(?i)" + pattern))
    for starts, pattern in (
        ("snmp-server", rb"snmp-server[ \t]+community[ \t]+" + _STORED + _VALUE),
        ("snmp-server", rb"snmp-server[ \t]+host[ \t]+\S{1,100}[ \t]+(?:traps[ \t]+|informs[ \t]+)?(?:version[ \t]+\S{1,3}[ \t]+(?:auth[ \t]+|priv[ \t]+)?)?" + _VALUE),
        ("snmp-server", rb"snmp-server[ \t]+user\s[^\n]{1,80}\sauth[ \t]+\w+[ \t]+(\S{4,100})(?:[ \t]+priv[ \t]+[\w ]{1,12}\s(\S{4,100}))?"),
        ("rocommunity|rwcommunity", rb"r[ow]community6?[ \t]+" + _VALUE),
        ("com2sec", rb"com2sec6?[ \t]+(?:-Cn[ \t]+\S+[ \t]+)?\S{1,60}[ \t]+\S{1,60}[ \t]+" + _VALUE),
        ("createuser", rb"createuser[ \t]+\S{1,60}[ \t]+(?:MD5|SHA[\d-]*)[ \t]+" + _VALUE + rb"\"?(?:[ \t]+(?:DES|AES\S*)[ \t]+" + _VALUE + rb")?"),
        ("snmp community|snmp-community|community", rb"(?:snmp[ -])?community(?:[ \t]+name|[ \t]+string)?[ \t]*[:=]?[ \t]+" + _VALUE),
        ("enable", rb"enable[ \t]+(?:secret|password)[ \t]+(?:level[ \t]+\d+[ \t]+)?" + _STORED + _VALUE),
        ("username", rb"username[ \t]+\S{1,60}[ \t]+(?:(?:privilege|role|access-class)[ \t]+\S+[ \t]+){0,2}(?:secret|password)[ \t]+" + _STORED + _VALUE),
        ("password", rb"password[ \t]+[0-9][ \t]+" + _VALUE),
        ("tacacs|radius", rb"(?:tacacs|radius)[^\n]{0,80}?\bkey[ \t]+" + _STORED + _VALUE),
        ("isakmp", rb"isakmp[ \t]+key[ \t]+" + _STORED + _VALUE),
        ("key-string", rb"key-string[ \t]+" + _STORED + _VALUE),
        ("pre-shared-key", rb"pre-shared-key[ \t]+(?:(?:local|remote|address[ \t]+\S+[ \t]+key)[ \t]+)?" + _STORED + _VALUE),
        ("authentication-key", rb"authentication-key[ \t]+(?:\d+[ \t]+md5[ \t]+)?" + _STORED + _VALUE),
        ("message-digest-key", rb"message-digest-key[ \t]+\d+[ \t]+md5[ \t]+" + _STORED + _VALUE),
        ("wpa-psk", rb"wpa-psk[ \t]+" + _STORED + _VALUE),
        ("standby", rb"standby[ \t]+\d+[ \t]+authentication[ \t]+(?:md5[ \t]+key-string[ \t]+|text[ \t]+)?" + _STORED + _VALUE),
        ("ppp", rb"ppp[ \t]+(?:chap|pap(?:[ \t]+sent-username[ \t]+\S+)?)[ \t]+password[ \t]+" + _STORED + _VALUE),
        ("set", rb"set[ \t]+\w{2,20}[ \t]+ENC[ \t]+" + _VALUE),
    )
)  # fmt: skip


def at(data: bytes, start: int, word: bytes) -> Iterator[Span]:
    """Spans of passwords that the keywords beginning at `start` with `word` (lower case) introduce."""
    lead = len(word) - len(word.lstrip())
    word = word.lstrip()
    for starts, pattern in _RULES:
        if not word.startswith(starts):
            continue
        match = pattern.match(data, start + lead, start + lead + 400)
        if match is None:
            continue
        for group, raw in enumerate(match.groups(), start=1):
            text = (raw or b"").decode("utf-8", "replace")
            # A plain word behind such keywords is prose more often than a password.
            if text and not text.isalpha() and not values.is_placeholder(text):
                yield Span(match.start(group), match.end(group), "device-password", "secret", shows_tail=False)
        return
