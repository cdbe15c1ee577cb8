"""Whether a value found where a credential may stand is one, or a placeholder, a word, code, or a plain identifier."""

import math
from collections import Counter
from enum import Enum
from itertools import pairwise

from satchel.filtering.sanitiser.names import Kind
from satchel.filtering.sanitiser.patterns import compile_bytes, union


class Standing(Enum):
    """How sure the surroundings are that a value stands here, from surest to least sure."""

    EXACT = 1  # quoted, or the value of a field
    BARE = 2  # behind `=` or `:` without quotes
    PROSE = 3  # "the password is …"


_PLACEHOLDER = compile_bytes(
    rb"(?i)"
    + union([
        rb"^[\W_x]*$",  # nothing but punctuation and x
        rb"\*{3}|x{4}|#{4}|\.{3}|\xe2\x80\xa6|\xe2\x80\xa2{2}|\?{3}|_{5}|0{8}|<[^<>]{0,60}>?",
        rb"^\[[A-Z_ ]{3,40}(?:#\d+)?\]?$",  # [REDACTED], [FILTERED]
        rb"^\$|^\\?\$\{|\$\{[^}]*\}?|\$\(|\{\{|\}\}|^\{[^{}]{0,60}\}?$|^%[^%\s]{1,60}%$|^%[sdv(]|^@[a-z_]+@$|^#\{|^__\w+__$",
        (rb"(?:^|[_\-. ])(?:your|insert|enter|replace|change|changeme|example|sample|dummy|fake|mock|placeholder|"
        rb"todo|tbd|redacted|masked|hidden|removed|censored|filtered|sanitized|omitted|fixme|foobar|notreal|ignored)"
        rb"(?:[_\-. ]|$)"),
        rb"changeme|change_me|replaceme|replace_me|placeholder|redacted|example$|^your|^my[_-]|_here$|-here$|^todo|^dummy",
        rb"\{(?-i:[a-z_])[\w.]{0,40}(?:\([\w., ]*\))?\}.|.\{(?-i:[a-z_])[\w.]{0,40}(?:\([\w., ]*\))?\}|\[(?:\^|a-z|0-9)",
        rb"^0x[0-9a-f]{1,8}$|^&(?:#x3c|#60|lt);|hello[_ -]?world|^#[0-9a-f]{3,8}$|^my(?:password|secret|token|pass|key)",
        rb"^!(?:ref|sub|getatt|join|importvalue|vault|secret|env|reference|encrypted)\b",
        rb"^(?:required|nullable|sometimes|string|confirmed|min:\d+|max:\d+)[|,]",
        (rb"^(?:arn:|op://|vault:|ssm:|secretsmanager:|ref\+|sops:|projects/[\w-]+/secrets|ENC\[|env[.:(]|file:|/run/|"
        rb"/var/|/etc/|/home/|/usr/|/opt/|/tmp/|\./|\.\./|~/|[A-Z]:\\)"),
        (rb"^(?:null|none|nil|undefined|true|false|yes|no|on|off|n/?a|nan|empty|unset|default|optional|required|string|str|"
        rb"int|integer|bool|boolean|bytes|any|text|object|number|char|varchar|secretstr|password|passwd|pass|pwd|secret|"
        rb"token|key|apikey|api[_ -]?key|auth|basic|bearer|digest|incorrect|invalid|missing|wrong|valid|correct|expired|"
        rb"unknown|user|username|login|email|name|value|type|self|this|input|hash|hashed|encrypted|plaintext|disabled|"
        rb"enabled|false\)?|async|await|return|const|let|var|new|readonly|private|public|static|final|void|func|function|"
        rb"raise|pass|break|continue|yield|if|else|del|assert|print|import|try|except|def|class|prompt|always|never|not|and|or|the|is|are|was|for|with|in|on|of|to|a|an|it)[.!?:]?$"),
    ])
)  # fmt: skip
_UUID = compile_bytes(rb"(?i)[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_CODE = compile_bytes(
    union(
        [
            rb"[\w.\]]\(",  # a call
            rb"^[A-Za-z_]\w*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*)+[;,)]*$",  # an attribute chain without digits at its joints
            rb"^[A-Za-z_]\w*\[",
            rb"^(?:process\.env|os\.environ|System\.|Environment\.|secrets\.|self\.|this\.|config\.|settings\.|ctx\.|req\.|env\.)",
            rb"=>|&&|\|\||\s[=!]==?\s|;$",
        ]
    )
)
_CALL = compile_bytes(rb"^[\w.]+\([^()]*\)[;,]?$|=>|&&")
_URL = compile_bytes(rb"(?i)^[a-z][a-z0-9+.-]{1,20}://|^-{4,5} ?BEGIN ")  # private keys have rules of their own
_VERSION = compile_bytes(rb"^(?:\d+:)?\d{1,4}(?:\.\d{1,8}){1,3}(?:[-+~][\w.+~-]*)?$")
_HEX = frozenset("0123456789abcdefABCDEF")
_RUNS = (
    "abcdefgh",
    "bcdefghi",
    "ijklmnop",
    "klmnopqr",
    "qrstuvwx",
    "stuvwxyz",
    "12345678",
    "23456789",
    "01234567",
    "87654321",
)
# The beginning of a long value tells enough.
_JUDGED_CHARS = 512


def entropy(text: str) -> float:
    """Shannon entropy of the characters, in bits a character."""
    total = len(text)
    return -sum(count / total * math.log2(count / total) for count in Counter(text).values()) if total else 0.0


def is_placeholder(text: str) -> bool:
    """Whether the text stands for a value instead of being one, or was masked already."""
    if len(set(text)) <= 2:  # aaaa, ababab
        return not text.isdigit() or len(set(text)) == 1
    if text[0] == "{" and text[-1] == "}" and looks_random(text[1:-1], at_least=20):  # as Jenkins writes them
        return False
    return _PLACEHOLDER.search(text.encode("utf-8", "surrogatepass")) is not None


def is_sequence(text: str) -> bool:
    """Whether the text holds a run of the alphabet or of the digits, as made-up examples do."""
    lowered = text.lower()
    return any(run in lowered for run in _RUNS)


def uuid_version(text: str) -> int | None:
    """The version digit of a text that is a UUID, else None."""
    match = _UUID.fullmatch(text.encode("utf-8", "surrogatepass"))
    return int(match.group(1), 16) if match else None


def looks_random(text: str, *, at_least: int) -> bool:
    """Whether some unbroken run of letters and digits mixes both, or mixes cases without spelling words."""
    longest = ""
    run = ""
    for char in text + " ":
        if char.isalnum() or char in "+/=_-":
            run += char
        else:
            longest, run = max(longest, run, key=len), ""
    if len(longest) < at_least:
        return False
    digits = sum(char.isdigit() for char in longest)
    letters = sum(char.isalpha() for char in longest)
    if digits and letters:
        return digits + letters >= at_least * 0.7 and _breaks(longest) >= len(longest) / 12
    return (
        bool(letters)
        and entropy(longest) >= min(3.6, 0.8 * math.log2(len(longest)))
        and _breaks(longest) >= len(longest) * 0.36
    )


def _breaks(text: str) -> int:
    """How often the class of character changes, a capital that opens a word aside."""
    count = 0
    for left, right in pairwise(text):
        if (
            left.isdigit() != right.isdigit()
            or (left.islower() and right.isupper())
            or (left.isupper() and right.islower())
        ):
            count += 1
    return count


def _has_digit_and_letter(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _mixes_in_one_run(text: str) -> bool:
    """Whether six letters and digits stand together, as versions and names with numbers do not have them."""
    runs = "".join(char if char.isalnum() else " " for char in text).split()
    return any(len(run) >= 6 and _has_digit_and_letter(run) for run in runs)


def is_credential(text: str, kind: Kind, standing: Standing) -> bool:
    """Whether the text is a credential of this kind, as sure as its standing demands."""
    text = text.strip()[:_JUDGED_CHARS]
    if len(text) < 3 or is_placeholder(text):
        return False
    if kind is Kind.PIN:
        return text.isdigit() and len(text) <= 8 and (len(text) >= 4 or standing is Standing.EXACT)
    if kind is Kind.PHRASE:
        return len(text.split()) >= 11  # 12 to 24 words in practice
    raw = text.encode("utf-8", "surrogatepass")
    code = _CALL.search(raw) if standing is Standing.EXACT else _CODE.search(raw)
    if _URL.search(raw) is not None or code is not None:
        return False
    if kind is Kind.PASSWORD:
        return _is_password(text, standing)
    return not any(map(str.isspace, text)) and not is_sequence(text) and _is_secret(text, kind, standing)


def _is_password(text: str, standing: Standing) -> bool:
    words = text.split()
    if standing is Standing.EXACT:
        told = any(word.lower().strip(".,:;!?") in {"password", "passwords", "passphrase"} for word in words)
        return len(words) <= 6 and not (len(words) > 1 and told)
    if len(text) < 4 or len(words) != 1 or _VERSION.search(text.encode("utf-8", "surrogatepass")) is not None:
        return False
    plain = text.isalpha()
    if standing is Standing.BARE:
        return not plain or (
            text.isascii() and (text[1:].islower() or text.isupper() or looks_random(text, at_least=8))
        )  # else the name of a type
    return (
        not plain
        and (any(map(str.isdigit, text)) or sum(not char.isalnum() for char in text[:-1]) > 0)
        and len(text) >= 5
    )


def _is_secret(text: str, kind: Kind, standing: Standing) -> bool:
    version = uuid_version(text)
    if version is not None:
        # Versions 1 and 2 are a clock and a network card, not chance.
        return kind is Kind.SECRET or (kind is Kind.TOKEN and version not in {1, 2})
    if kind is Kind.KEY:
        return any(map(str.isdigit, text)) and looks_random(text, at_least=16) and entropy(text) >= 3
    if set(text) <= _HEX and len(text) >= 16:
        return entropy(text) >= 2.5
    if standing is Standing.PROSE:
        return len(text) >= 12 and looks_random(text, at_least=12)
    if standing is Standing.BARE:
        return len(text) >= 8 and (looks_random(text, at_least=8) or _mixes_in_one_run(text))
    if text.isdigit():
        return len(text) >= 8 and kind is Kind.SECRET
    return len(text) >= 6 and (
        _mixes_in_one_run(text)
        or (
            kind is Kind.SECRET
            and (_has_digit_and_letter(text) or (len(text) >= 12 and text.isalpha() and entropy(text) >= 2.5))
        )
        or (len(text) >= 16 and looks_random(text, at_least=16))
        or (kind is Kind.SECRET and len(text) >= 8 and any(not c.isalnum() and c not in "-_./: " for c in text))
    )
