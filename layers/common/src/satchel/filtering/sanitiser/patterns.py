"""How every pattern of the sanitiser is compiled: RE2 on bytes, so that hostile text costs linear time.

Text is searched as UTF-8 bytes in RE2's one-byte mode: `\\w` and `\\b` are ASCII, any byte sequence is legal
(lone surrogates included), and offsets need no translation until something was found.
"""

from collections.abc import Iterator

import re2

# States of the lazily built automaton are kept in this much memory; the default makes large unions start over.
_AUTOMATON_BYTES = 48 << 20


def compile_bytes(pattern: bytes) -> "re2.Pattern[bytes]":
    """Compile one of our own patterns for searching UTF-8 bytes."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = _AUTOMATON_BYTES
    options.log_errors = False
    return re2.compile(pattern, options)


def occurrences(data: bytes, word: bytes) -> Iterator[int]:
    """Where the word stands; much faster than a pattern, for words that are rare."""
    at = data.find(word)
    while at >= 0:
        yield at
        at = data.find(word, at + 1)


def union(patterns: "list[bytes]") -> bytes:
    """One pattern that matches wherever any of the given ones does."""
    return b"|".join(b"(?:" + pattern + b")" for pattern in patterns)
