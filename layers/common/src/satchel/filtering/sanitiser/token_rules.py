"""Credentials that are known by their own shape, wherever they stand.

One pass with the union of all openings finds the few places worth a look; the rules that open with those letters are
tried there. Besides our own rules there are gitleaks' (see `gitleaks/LICENSE.txt`).
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any

from satchel.filtering.sanitiser import values
from satchel.filtering.sanitiser.patterns import Match, Pattern, compile_bytes, union
from satchel.filtering.sanitiser.span import Span
from satchel.filtering.sanitiser.token_shapes import MIDDLES, SHAPES, Check, is_mixed

_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_RULES_FILE = "gitleaks/rules.json"


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
        openings = [opening for _, opening, _, _ in SHAPES + MIDDLES]
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
        for rule, _, whole, check in SHAPES:
            pattern = compile_bytes(whole)
            lowest, highest = pattern.possiblematchrange(1)
            for first in range(lowest[0], highest[0] + 1):
                by_first_byte[first].append((rule, pattern, check))
        for rule, opening, whole, check in MIDDLES:
            pattern = compile_bytes(opening)
            lowest, highest = pattern.possiblematchrange(1)
            for first in range(lowest[0], highest[0] + 1):
                self._middle_by_first_byte[first].append((rule, pattern, compile_bytes(whole), check))
        self._any = compile_bytes(union([whole for _, _, whole, _ in SHAPES]))
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
            if found and is_mixed(b"0000" + data[found.start : found.end]):
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
        if values.entropy(token.decode("latin-1")) < rule.entropy or _is_dummy(rule.rule, token):
            return None
        if not any(48 <= byte <= 57 for byte in token) or _FILE_ENDING.match(data[end : end + 8]):
            return None
        if any(pattern.search(token) is not None for pattern in rule.allow):
            return None
        return Span(start, end, rule.rule, "secret")


_ANY_VENDOR = "prefixed-token"
_LIVE = compile_bytes(rb"[a-z]{2,4}_live_")
# Of these the length is fixed: what goes on is something else.
_FIXED_LENGTH = frozenset(
    {"azure-client-secret", "huggingface-token", "twilio-api-key", "password-hash", "harness-key"}
)
_FILE_ENDING = compile_bytes(rb"\A\.(?:png|jpe?g|gif|svg|ico|css|js|html?|webp|woff2?)\b")


def _passes(rule: str, data: bytes, match: Match, check: Check | None) -> bool:
    token, end = match.group(), match.end()
    if rule in _FIXED_LENGTH and data[end : end + 1] and (data[end] in _WORD or data[end : end + 1] in b"_~"):
        return False
    if (check and not check(token)) or (rule != "password-hash" and _is_dummy(rule, token)):
        return False
    return _FILE_ENDING.match(data[end : end + 8]) is None


def _is_dummy(rule: str, token: bytes) -> bool:
    """Whether the token only stands for one: a placeholder, or an example that runs through the alphabet.

    Where a known vendor's opening says that the token is live, its shape outweighs such a run.
    """
    text = token.decode("latin-1")
    is_live = rule != _ANY_VENDOR and _LIVE.match(token) is not None
    return values.is_placeholder(text) or (not is_live and values.is_sequence(text))


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
