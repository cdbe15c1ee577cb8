"""Credentials that are known by their own shape, wherever they stand.

One pass with the union of all openings finds the few places worth a look; the rules that open with those letters are
tried there. Besides our own rules there are gitleaks' (see `gitleaks/LICENSE.txt`).
"""

import base64
import binascii
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from itertools import pairwise
from typing import Any

from satchel.filtering.sanitiser import values
from satchel.filtering.sanitiser.patterns import Match, Pattern, compile_bytes, union
from satchel.filtering.sanitiser.span import Span

_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_RULES_FILE = "gitleaks/rules.json"


def _decoded_start(data: bytes) -> bytes:
    padded = data.replace(b"-", b"+").replace(b"_", b"/")
    padded += b"=" * (-len(padded) % 4)
    try:
        return base64.b64decode(padded)
    except (binascii.Error, ValueError):
        return b""


def _is_jwt(token: bytes) -> bool:
    try:
        header = json.loads(_decoded_start(token.split(b".", 1)[0].replace(b"\\", b"")))
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict)


def _is_discord(token: bytes) -> bool:
    return _decoded_start(token.split(b".", 1)[0]).isdigit()


def _mixes_letters(token: bytes) -> bool:
    """For tokens that may be of letters alone: cases change more often than in words."""
    tail = token.decode("latin-1").rpartition("_")[2]
    changes = sum(left.islower() != right.islower() for left, right in pairwise(tail))
    return changes >= len(tail) / 5


def _is_random(token: bytes) -> bool:
    text = token.decode("latin-1")
    tail = max(text.replace("-", "_").replace(".", "_").split("_"), key=len)
    return values.looks_random(tail, at_least=12)


def _mixes(token: bytes) -> bool:
    return any(48 <= byte <= 57 for byte in token[4:]) and values.entropy(token.decode("latin-1")) >= 3


def _mixes_cases(token: bytes) -> bool:
    tail = token.split(b".", 1)[1]
    return tail != tail.lower() and tail != tail.upper() and any(48 <= byte <= 57 for byte in tail)


Check = Callable[[bytes], bool]

# (id, opening, whole token, what a match must pass besides). The opening is what the union looks for: short enough to be
# cheap, long enough to be rare. A token goes on as far as its last class does, so that a longer one leaves no tail.
_OWN: tuple[tuple[str, bytes, bytes, Check | None], ...] = (
    ("aws-access-key-id", rb"A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{8}", rb"A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}", _mixes),
    ("aws-session-token", rb"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz)", rb"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz)[A-Za-z0-9+/=%_-]{40,}", None),
    ("jwt", rb"ey[A-Za-z0-9]{12}", rb"ey[\w-]{12,}\.ey[\w\\/-]{12,}(?:\.[\w\\/+-]*={0,2})?", _is_jwt),
    ("jwe", rb"ey[A-Za-z0-9]{12}", rb"ey[\w-]{16,}\.[\w-]*\.[\w-]{10,}\.[\w-]{16,}\.[\w-]{10,}", _is_jwt),
    ("jwt", rb"ZXlK[A-Za-z0-9]{12}", rb"ZXlK[A-Za-z0-9+/_-]{40,}={0,2}", None),
    ("github-token", rb"gh[pousr]_[A-Za-z0-9]{8}", rb"gh[pousr]_[A-Za-z0-9]{36,255}", _mixes),
    ("github-fine-grained-pat", rb"github_pat_", rb"github_pat_[A-Za-z0-9]{20,24}_[A-Za-z0-9]{50,}", None),
    ("gitlab-token", rb"gl(?:pat|ptt|dt|rt|cbt|ft|oas|soat|agent|imt|ffct)-", rb"gl(?:pat|ptt|dt|rt|cbt|ft|oas|soat|agent|imt|ffct)-[\w-]{20,}(?:\.[0-9a-z]{2}\.[0-9a-z]{9}|\.[0-9a-z]{9})?", None),
    ("slack-token", rb"xox[a-z][.-]", rb"xox(?:[bpsoare]-[0-9]{8,14}(?:-[0-9]{8,14}){0,2}-[A-Za-z0-9-]*[A-Za-z0-9]{16,}|[cd]-[A-Za-z0-9%+/=_-]{30,}|e\.xox[bp]-[A-Za-z0-9-]{40,}|[ar]-[0-9]-[A-Za-z0-9-]{20,})", None),
    ("slack-app-token", rb"xapp-", rb"xapp-\d-[A-Z0-9]{6,}-\d{6,}-[a-zA-Z0-9]{20,}", None),
    ("slack-webhook", rb"(?:https?://)?hooks\.slack(?:-gov)?\.com/", rb"(?:https?://)?hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/_-]{30,}", None),
    ("openai-key", rb"sk-[A-Za-z0-9_-]{8}", rb"sk-(?:[a-z]{2,10}(?:-[a-z]{1,4}\d{0,2})?-)?[A-Za-z0-9_-]{20,}", _is_random),
    ("stripe-key", rb"[srp]k_(?:live|test|prod)_", rb"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}", None),
    ("stripe-webhook-secret", rb"whsec_", rb"whsec_[A-Za-z0-9+/=]{24,}", None),
    ("twilio-api-key", rb"SK[0-9a-f]{12}", rb"SK[0-9a-f]{32}", None),
    ("sendgrid-key", rb"SG\.[\w-]{12}", rb"SG\.[\w-]{16,32}\.[\w-]{16,64}", None),
    ("google-oauth-secret", rb"GOCSPX-", rb"GOCSPX-[\w-]{24,}", None),
    ("google-oauth-token", rb"ya29\.[\w-]{8}", rb"ya29\.[\w-]{30,}", None),
    ("google-refresh-token", rb"1//0[\w-]{10}", rb"1//0[\w-]{40,}", _is_random),
    ("anthropic-key", rb"sk-ant-", rb"sk-ant-[a-z0-9]{3,10}-[\w-]{40,}", None),
    ("huggingface-token", rb"(?:hf|api_org)_[A-Za-z0-9]{8}", rb"(?:hf|api_org)_[A-Za-z0-9]{34,40}", _mixes_letters),
    ("npm-token", rb"npm_[A-Za-z0-9]{8}", rb"npm_[A-Za-z0-9]{36}", _mixes),
    ("pypi-token", rb"pypi-Ag[A-Za-z0-9]{4}", rb"pypi-Ag(?:EIcHlwaS5vcmc|ENdGVzdC5weXBpLm9yZw)[\w-]{70,}", None),
    ("atlassian-token", rb"AT[AC]TT3", rb"AT[AC]TT3[\w=-]{60,}", None),
    ("mailgun-key", rb"(?:key|pubkey)-[0-9a-f]{12}", rb"key-[0-9a-f]{32}", None),
    ("vault-token", rb"(?:hv[sbr]\.[\w-]{8}|s\.[A-Za-z0-9]{20})", rb"(?:hv[sbr]\.[\w-]{24,}|s\.[A-Za-z0-9]{24})", _mixes_cases),
    ("new-relic-key", rb"NR(?:AK|II|RA|JS|BR|AL|SP)-", rb"NR(?:AK|II|RA|JS|BR|AL|SP)-[A-Za-z0-9]{19,}", None),
    ("notion-token", rb"(?:ntn_[0-9]{4}|secret_[A-Za-z0-9]{20})", rb"(?:ntn_[0-9]{11}[A-Za-z0-9]{30,}|secret_[A-Za-z0-9]{43})", None),
    ("dockerhub-pat", rb"dckr_", rb"dckr_(?:pat|oat)_[\w-]{24,}", None),
    ("supabase-key", rb"sb[pst]_[A-Za-z0-9]{8}|sb_(?:secret|publishable)_", rb"sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,}", None),
    ("sentry-token", rb"sntry[su]_", rb"sntry[su]_[A-Za-z0-9+/_=-]{40,}", None),
    ("age-secret-key", rb"(?i:AGE-SECRET-KEY-1)", rb"(?i:AGE-SECRET-KEY-1)[0-9A-Za-z]{58}", None),
    ("square-token", rb"(?:sq0[a-z]{3}-|EAAA[\w-]{20})", rb"(?:sq0(?:atp|csp|idp)-[\w-]{22,}|EAAA[\w-]{56,60})", _mixes),
    ("mapbox-secret", rb"sk\.ey[A-Za-z0-9]{8}", rb"sk\.ey[\w-]{20,}\.[\w-]{20,}", None),
    ("twitter-bearer", rb"A{20}[A-Za-z0-9%]{8}", rb"A{20,}[A-Za-z0-9%]{60,}", _mixes),
    ("openshift-token", rb"sha256~[\w-]{8}", rb"sha256~[\w-]{43}", _is_random),
    ("azure-devops-or-octopus", rb"API-[A-Z0-9]{24}", rb"API-[A-Z0-9]{25,34}", _mixes),
    ("cloudflare-origin-ca-key", rb"v1\.0-[a-f0-9]{16}", rb"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}", None),
    ("nuget-key", rb"oy2[a-z0-9]{20}", rb"oy2[a-z0-9]{43}", _mixes),
    ("groq-key", rb"gsk_[A-Za-z0-9]{12}", rb"gsk_[A-Za-z0-9]{40,}", None),
    ("xai-key", rb"xai-[A-Za-z0-9]{12}", rb"xai-[A-Za-z0-9]{60,}", None),
    ("tailscale-key", rb"tskey-", rb"tskey-[a-z]{2,12}-[\w-]{16,}", None),
    ("replicate-token", rb"r8_[A-Za-z0-9]{12}", rb"r8_[A-Za-z0-9]{36,}", None),
    ("resend-key", rb"re_[A-Za-z0-9]{8}_", rb"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}", None),
    ("langsmith-key", rb"lsv2_", rb"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}", None),
    ("figma-token", rb"fig[dou]_", rb"fig[dou]_[\w-]{36,}", None),
    ("buildkite-token", rb"bk(?:ua|aa|t|ct)_[a-f0-9]{8}", rb"bk(?:ua|aa|t|ct)_[a-f0-9]{40}", None),
    ("sonar-token", rb"sq[apu]_[a-f0-9]{8}", rb"sq[apu]_[a-f0-9]{40}", None),
    ("dropbox-token", rb"sl\.(?:u\.)?[\w-]{12}", rb"sl\.(?:u\.)?[\w-]{100,}", _is_random),
    ("nvidia-key", rb"nvapi-", rb"nvapi-[\w-]{50,}", None),
    ("pinecone-key", rb"pcsk_", rb"pcsk_[\w-]{40,}", None),
    ("sourcegraph-token", rb"sg[pdm]_[A-Za-z0-9]{5}", rb"sg[pdm]_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}", _mixes),
    ("databricks-token", rb"dapi[0-9a-f]{12}", rb"dapi[0-9a-f]{32}(?:-\d)?", None),
    ("doppler-token", rb"dp\.(?:pt|st|ct|sa|scim|audit)\.", rb"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}", None),
    ("dynatrace-token", rb"dt0[a-z]\d\d\.", rb"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}", None),
    ("password-hash", rb"\$(?:2[abxy]|argon2(?:id|i|d)|[156y]|apr1|scrypt|pbkdf2[\w-]*)\$[\w=./,$-]{8}", rb"\$(?:2[abxy]|argon2(?:id|i|d)|[156y]|apr1|scrypt|pbkdf2[\w-]*)\$[\w=./+,$-]{22,}", None),
)  # fmt: skip

_WHAT = rb"(?:live|test|prod|pat|sk|tkn|token|secret|key|api|oauth|priv|pw|at|rt|svc|admin|user|access|refresh)[_-]"
# The same for tokens whose letters to look for stand in the middle: the whole is searched from 40 bytes before.
_MIDDLE: tuple[tuple[str, bytes, bytes, Check | None], ...] = (
    ("telegram-bot-token", rb"\d:A[\w-]{12}", rb"\d{6,12}:A[\w-]{33,35}", _mixes),
    ("discord-bot-token", rb"\.[\w-]{6}\.[\w-]{8}", rb"[MNO][A-Za-z0-9_-]{20,27}\.[\w-]{6}\.[\w-]{27,45}", _is_discord),
    ("azure-client-secret", rb"\dQ~[A-Za-z0-9_~.-]{8}", rb"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}", _mixes),
    ("new-relic-key", rb"[a-f0-9]{4}NRAL", rb"[a-f0-9]{36}NRAL", None),
    ("terraform-token", rb"\.atlasv1\.", rb"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}", None),
    ("maxmind-key", rb"_mmk", rb"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", None),
    ("mailchimp-key", rb"[0-9a-f]-us\d", rb"[0-9a-f]{32}-us\d{1,2}", None),
    ("facebook-token", rb"\d(?:\||%7C)[\w-]{10}", rb"\d{13,16}(?:\||%7C)[\w-]{27,40}", _mixes),
    ("airtable-pat", rb"\.[a-f0-9]{16}", rb"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}", None),
    ("harness-key", rb"[ps]at\.[\w-]{12}", rb"(?:pat|sat)\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}", None),
    ("discord-webhook", rb"discord(?:app)?\.com/api/webhooks/", rb"(?:https?://)?(?:[a-z]{2,10}\.)?discord(?:app)?\.com/api/webhooks/\d{10,}/[\w-]{30,}", None),
    ("teams-webhook", rb"\.webhook\.office\.com/", rb"https://[a-z0-9-]{1,30}\.webhook\.office\.com/webhookb2/[\w@/-]{60,}", None),
    # Vendors nobody has listed yet name their tokens alike: `<vendor>_<what>_<random>`.
    ("prefixed-token", rb"[_-]" + _WHAT + rb"[A-Za-z0-9]{6}",
     rb"[A-Za-z][A-Za-z0-9]{1,14}[_-]" + _WHAT + rb"(?:[a-z]{2,8}[_-])?(?:v\d[_-])?[A-Za-z0-9]{20,}", _is_random),
)  # fmt: skip
_LOOK_BACK_BYTES = 40
_LOOK_AHEAD_BYTES = 400
# Longer tokens are looked at this far and then followed to their end.
_TOKEN_BYTES = 8_192


@dataclass(frozen=True, slots=True)
class _Rule:
    rule: str
    pattern: Pattern
    check: Check | None
    ends: bool
    entropy: float
    allow: tuple[Pattern, ...]


class TokenRules:
    """All rules about shapes, compiled on first use."""

    def __init__(self) -> None:
        with (resources.files("satchel.filtering.sanitiser") / _RULES_FILE).open(encoding="utf-8") as file:
            vendored: dict[str, Any] = json.load(file)
        self._prefixed: list[dict[str, Any]] = vendored["prefixed"]
        self._vendors: list[dict[str, Any]] = vendored["vendors"]
        openings = [opening for _, opening, _, _ in _OWN + _MIDDLE]
        literals = sorted({keyword for rule in self._prefixed for keyword in rule["keywords"]})
        openings.append(b"(?i:" + b"|".join(_escape(literal) for literal in literals) + b")")
        self._openings = compile_bytes(union(openings))
        names = union([vendor["vendor"].encode() for vendor in self._vendors])
        self._vendor_opening = compile_bytes(
            rb"(?i)(?:" + names + rb")(?:[ \t\w.-]{0,20})(?:\\*['\"]|[\s\])}]){0,4}(?:=>|:=|[=>:,]|\|\|)[=>]?"
            rb"[\x60'\"\s=\\(]{0,6}[A-Za-z0-9_-]{12}"
        )
        self._compiled: dict[str, _Rule] = {}
        self._by_first_byte: list[list[tuple[str, Pattern, Check | None]]] = []
        self._by_opening: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        for described in self._prefixed:
            for keyword in described["keywords"]:
                self._by_opening.setdefault(keyword[:3], []).append((keyword, described))
        self._middle_by_first_byte: list[list[tuple[str, Pattern, Pattern, Check | None]]] = [[] for _ in range(256)]
        self._any: Pattern | None = None

    def find(self, data: bytes) -> Iterator[Span]:
        """Spans of tokens, in no particular order."""
        reached = 0
        for hit in self._openings.finditer(data):
            if hit.start() < reached:
                continue
            for span in self._around(data, hit.start(), reached):
                reached = max(reached, span.end)
                yield span
        for hit in self._vendor_opening.finditer(data):
            yield from self._vendor_values(data, hit.start(), hit.end())

    def _around(self, data: bytes, hit: int, reached: int) -> Iterator[Span]:
        if not self._by_first_byte:
            self._compile()
        for rule, opening, whole, check in self._middle_by_first_byte[data[hit]]:
            if opening.match(data, hit) is None:
                continue
            match = whole.search(data, max(reached, hit - _LOOK_BACK_BYTES), hit + _LOOK_AHEAD_BYTES)
            if match is None or not match.start() <= hit < match.end() or not _stands_alone(data, match.start()):
                continue
            if _passes(rule, data, match, check):
                yield Span(match.start(), match.end(), rule, "secret")
                return
        if _stands_alone(data, hit):
            yield from self._at(data, hit)

    def _compile(self) -> None:
        """Compile the rules about whole tokens; text without any opening never pays for it."""
        by_first_byte: list[list[tuple[str, Pattern, Check | None]]] = [[] for _ in range(256)]
        for rule, _, whole, check in _OWN:
            pattern = compile_bytes(whole)
            lowest, highest = pattern.possiblematchrange(1)
            for first in range(lowest[0], highest[0] + 1):
                by_first_byte[first].append((rule, pattern, check))
        for rule, opening, whole, check in _MIDDLE:
            pattern = compile_bytes(opening)
            lowest, highest = pattern.possiblematchrange(1)
            for first in range(lowest[0], highest[0] + 1):
                self._middle_by_first_byte[first].append((rule, pattern, compile_bytes(whole), check))
        self._any = compile_bytes(union([whole for _, _, whole, _ in _OWN]))
        self._by_first_byte = by_first_byte

    def _at(self, data: bytes, start: int) -> Iterator[Span]:
        candidates = (
            self._by_first_byte[data[start]]
            if self._any is not None and self._any.match(data, start, start + _TOKEN_BYTES) is not None
            else []
        )
        for rule, pattern, check in candidates:
            match = pattern.match(data, start, start + _TOKEN_BYTES)
            if match is not None and _passes(rule, data, match, check):
                end = match.end() if match.end() < start + _TOKEN_BYTES else _end_of_run(data, match.end())
                yield Span(start, end, rule, "secret", shows_tail=rule != "password-hash")
                return
        head = data[start : start + 24].decode("latin-1").lower()
        for keyword, described in self._by_opening.get(head[:3], ()):
            if not head.startswith(keyword):
                continue
            found = self._described(described, described["regex"], data, start)
            if found:
                yield found
                return

    def _vendor_values(self, data: bytes, start: int, end: int) -> Iterator[Span]:
        context = data[start:end].decode("latin-1").lower()
        value_start = end - 12
        for described in self._vendors:
            if self._name(described).search(context.encode("latin-1")) is None:
                continue
            found = self._described(described, described["value"], data, value_start)
            if found and _mixes(b"0000" + data[found.start : found.end]):
                yield found
                return

    def _name(self, described: dict[str, Any]) -> Pattern:
        key = described["id"] + "/name"
        if key not in self._compiled:
            pattern = compile_bytes(b"(?i)" + described["vendor"].replace("(?-i:", "(?:").encode())
            self._compiled[key] = _Rule(key, pattern, None, ends=False, entropy=0, allow=())
        return self._compiled[key].pattern

    def _described(self, described: dict[str, Any], regex: str, data: bytes, start: int) -> Span | None:
        rule = self._compiled.get(described["id"])
        if rule is None:
            allow = tuple(compile_bytes(pattern.encode()) for pattern in described.get("allow", ()))
            ends = described.get("ends", True)
            rule = _Rule(described["id"], compile_bytes(regex.encode()), None, ends, described["entropy"], allow)
            self._compiled[described["id"]] = rule
        match = rule.pattern.match(data, start, start + _TOKEN_BYTES)
        if match is None:
            return None
        end = match.end()
        if end < len(data) and data[end] in _WORD:
            if rule.ends:
                return None
            while end < len(data) and data[end] in _WORD:
                end += 1
        token = data[match.start() : end]
        if values.entropy(token.decode("latin-1")) < rule.entropy or _is_dummy(token):
            return None
        if not any(48 <= byte <= 57 for byte in token) or _FILE_ENDING.match(data[end : end + 8]):
            return None
        if any(pattern.search(token) is not None for pattern in rule.allow):
            return None
        return Span(start, end, rule.rule, "secret")


# Of these the length is fixed: what goes on is something else.
_FIXED_LENGTH = frozenset(
    {"azure-client-secret", "huggingface-token", "twilio-api-key", "password-hash", "harness-key"}
)
_FILE_ENDING = compile_bytes(rb"\A\.(?:png|jpe?g|gif|svg|ico|css|js|html?|webp|woff2?)\b")


def _passes(rule: str, data: bytes, match: Match, check: Check | None) -> bool:
    token, end = match.group(), match.end()
    if rule in _FIXED_LENGTH and data[end : end + 1] and (data[end] in _WORD or data[end : end + 1] in b"_~"):
        return False
    if (check and not check(token)) or (rule != "password-hash" and _is_dummy(token)):
        return False
    return _FILE_ENDING.match(data[end : end + 8]) is None


def _is_dummy(token: bytes) -> bool:
    text = token.decode("latin-1")
    return values.is_sequence(text) or values.is_placeholder(text)


def _escape(literal: str) -> bytes:
    return b"".join(
        b"\\" + bytes([byte]) if byte not in _WORD and byte != ord("_") else bytes([byte]) for byte in literal.encode()
    )


def _end_of_run(data: bytes, at: int) -> int:
    while at < len(data) and (data[at] in _WORD or data[at] in b"_-+/=."):
        at += 1
    return at


def _stands_alone(data: bytes, start: int) -> bool:
    r"""Whether no word runs into the token: an escape such as `\n`, `\u0022` or `%3D` before it is no word."""
    if start == 0 or (data[start - 1] not in _WORD):
        return True
    before = data[max(0, start - 6) : start]
    return (
        before[-2:-1] == b"\\"
        or (before[-3:-2] == b"%" and all(byte in b"0123456789abcdefABCDEF" for byte in before[-2:]))
        or (before[-6:-4] == b"\\u")
        or before[-4:-2] == b"\\x"
    )
