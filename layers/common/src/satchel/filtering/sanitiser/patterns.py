r"""How every pattern of the sanitiser is compiled: RE2 on bytes, so that hostile text costs linear time.

Text is searched as UTF-8 bytes in RE2's one-byte mode: `\w` and `\b` are ASCII, any byte sequence is legal (lone
surrogates included), and offsets need no translation until something was found. An anchor (`\A`, `\z`) only holds
at the ends of the bytes object itself, so anchored patterns are matched against slices.
"""

from collections.abc import Iterator
from typing import Any, Protocol, cast

import re2  # pyright: ignore[reportMissingTypeStubs]

# States of the lazily built automaton are kept in this much memory; the default makes large unions start over.
_AUTOMATON_BYTES = 48 << 20


class Match(Protocol):
    """What RE2 answers about one match; offsets are bytes."""

    def group(self, group: int = 0, /) -> bytes:
        """The text of a group."""
        ...

    def groups(self) -> tuple[bytes | None, ...]:
        """The texts of all groups; None for one that took no part."""
        ...

    def start(self, group: int = 0, /) -> int:
        """Where a group begins."""
        ...

    def end(self, group: int = 0, /) -> int:
        """Where a group ends, exclusive."""
        ...


class Pattern(Protocol):
    """A compiled pattern; google-re2 has no type hints of its own."""

    def search(self, text: bytes, pos: int = 0, endpos: int | None = None) -> Match | None:
        """The leftmost match."""
        ...

    def match(self, text: bytes, pos: int = 0, endpos: int | None = None) -> Match | None:
        """The match that begins at `pos`."""
        ...

    def fullmatch(self, text: bytes, pos: int = 0, endpos: int | None = None) -> Match | None:
        """The match that is the whole text."""
        ...

    def finditer(self, text: bytes, pos: int = 0, endpos: int | None = None) -> Iterator[Match]:
        """All matches, left to right, without overlap."""
        ...

    def possiblematchrange(self, maxlen: int) -> tuple[bytes, bytes]:
        """The lowest and the highest text that a match can begin with."""
        ...


class _Deferred:
    """A pattern that is compiled when it is first used: most texts need few of them.

    It then takes on the compiled pattern's methods, so that later calls cost nothing more.
    """

    def __init__(self, source: bytes) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        library = cast("Any", re2)
        options = library.Options()
        options.encoding = library.Options.Encoding.LATIN1
        compiled = _compiled(self._source, options, _AUTOMATON_BYTES)
        self.__dict__.update({method: getattr(compiled, method) for method in _METHODS})
        return self.__dict__[name]


_METHODS = frozenset({"search", "match", "fullmatch", "finditer", "possiblematchrange"})


def compile_bytes(pattern: bytes) -> Pattern:
    """One of our own patterns, for searching UTF-8 bytes; compiled on first use."""
    return cast("Pattern", _Deferred(pattern))


def compile_custom(pattern: bytes, memory_bytes: int) -> Pattern:
    """Compile a pattern that a person wrote, for UTF-8.

    Raises:
        ValueError: It is not RE2 syntax, or needs more than the memory.
    """
    library = cast("Any", re2)
    try:
        return _compiled(pattern, library.Options(), memory_bytes)
    except library.error as error:
        raise ValueError("not a pattern in RE2 syntax") from error


def _compiled(pattern: bytes, options: Any, memory_bytes: int) -> Pattern:
    options.max_mem = memory_bytes
    options.log_errors = False
    return cast("Pattern", cast("Any", re2).compile(pattern, options))


def escape(text: str) -> bytes:
    """A pattern that matches exactly this text."""
    return cast("bytes", cast("Any", re2).escape(text.encode("utf-8", "surrogatepass")))


def occurrences(data: bytes, word: bytes) -> Iterator[int]:
    """Where the word stands; much faster than a pattern, for words that are rare."""
    at = data.find(word)
    while at >= 0:
        yield at
        at = data.find(word, at + 1)


def union(patterns: list[bytes]) -> bytes:
    """One pattern that matches wherever any of the given ones does."""
    return b"|".join(b"(?:" + pattern + b")" for pattern in patterns)
