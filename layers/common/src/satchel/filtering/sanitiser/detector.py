"""All detectors over one text."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, repeat
from operator import add

from satchel.filtering.sanitiser import assignments, encoded, personal_data, wire_formats
from satchel.filtering.sanitiser.patterns import Pattern
from satchel.filtering.sanitiser.span import Span, settle
from satchel.filtering.sanitiser.token_rules import TokenRules

# Between the texts of one value: no pattern of ours runs across it.
_SEPARATOR = "\n\x00\n"
_LAYERS = 2  # base64 in a percent-encoded parameter and the like


class Detector:
    """Finds what must not get out of a text.

    Args:
        tokens: The rules about shapes; compiled once and shared.
        custom: `(rule id, compiled RE2 pattern)` pairs of the configuration.
        allowed: Compiled patterns; a find that one of them matches as a whole stays.
        pii: Whether personal data counts.
    """

    def __init__(
        self,
        tokens: TokenRules,
        *,
        custom: tuple[tuple[str, Pattern], ...] = (),
        allowed: tuple[Pattern, ...] = (),
        pii: bool = True,
    ) -> None:
        self._tokens = tokens
        self._custom = custom
        self._allowed = allowed
        self._pii = pii

    def find(self, data: bytes) -> list[Span]:
        """Spans over the bytes, in order, without overlap."""
        return settle([span for span in self._search(data, layers=_LAYERS) if self.counts(data, span)])

    def _search(self, data: bytes, *, layers: int) -> list[Span]:
        spans = [*self._tokens.find(data), *assignments.find(data), *wire_formats.find(data)]
        if self._pii:
            spans += personal_data.find(data)
        for rule, pattern in self._custom:
            spans += [Span(m.start(), m.end(), rule, "secret") for m in pattern.finditer(data) if m.end() > m.start()]
        if layers:
            spans += encoded.find(data, lambda decoded: self._search(decoded, layers=layers - 1))
        return spans

    def find_each(self, texts: Sequence[str]) -> dict[int, list[Span]]:
        """Spans over the bytes of each text in which something was found, by the text's position.

        All are searched in one go, kept apart by what no find can contain.
        """
        joined = _SEPARATOR.join(texts)
        spans = self.find(joined.encode("utf-8", "surrogatepass"))
        if not spans:
            return {}
        lengths = map(len, texts)
        if not joined.isascii():
            lengths = (len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")) for text in texts)
        starts = list(accumulate(map(add, lengths, repeat(len(_SEPARATOR))), initial=0))
        found: dict[int, list[Span]] = {}
        for span in spans:
            index = bisect_right(starts, span.start) - 1
            start = starts[index]
            found.setdefault(index, []).append(span._replace(start=span.start - start, end=span.end - start))
        return found

    def counts(self, data: bytes, span: Span) -> bool:
        """Whether a find stands: it is within one text and not on the list of what is allowed."""
        text = data[span.start : span.end]
        return b"\x00" not in text and not any(pattern.fullmatch(text) is not None for pattern in self._allowed)
